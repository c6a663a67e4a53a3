// Emits one launch of a nest as an LLVM function: a hone_launch_function for CPUs, a kernel for
// GPUs.
#ifndef HONE_COMPILER_CODEGEN_LLVM_LAUNCH_EMITTER_H_
#define HONE_COMPILER_CODEGEN_LLVM_LAUNCH_EMITTER_H_

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "compiler/codegen/llvm/index_math.h"
#include "compiler/codegen/llvm/values.h"
#include "compiler/loop/accumulation.h"
#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::codegen {

struct LaunchCode {
  llvm::Function* function = nullptr;
  uint64_t scratch_bytes = 0;
};

// A launch as a GPU kernel.
struct KernelCode {
  llvm::Function* function = nullptr;
  std::vector<uint32_t> arguments;  // the parameters, as indices into the nest's buffers
  uint64_t shared_bytes = 0;        // the memory that the threads of a block share
};

// Use an emitter for one launch only. It unrolls the loops that the schedule marked for it, and
// emits the body of a vectorised loop once, with its iterations as lanes. A value stays scalar as
// long as it is the same in all lanes.
class LaunchEmitter {
 public:
  // `module` and `nest` must outlive the emitter.
  LaunchEmitter(llvm::Module& module, const loop::Nest& nest, const TargetTraits& traits);

  // kInvalidArgument if the launch uses a variable or buffer that nothing binds.
  absl::StatusOr<LaunchCode> Emit(const lower::LoweredLaunch& launch, const std::string& name);
  // Emits the launch as a GPU kernel whose blocks have `block_threads` threads. If the launch has a
  // `thread`, the threads of a block run the body together for one index of the grid. Otherwise
  // each thread runs it for an index of its own, and threads beyond the grid return at once.
  absl::StatusOr<KernelCode> EmitKernel(const lower::LoweredLaunch& launch, const std::string& name,
                                        uint32_t block_threads);

 private:
  struct Storage {
    llvm::Value* base = nullptr;
    int64_t elements = 0;
    std::vector<int64_t> extents;  // of the layout's dimensions
    // A buffer allocated inside a vectorised loop has one copy per lane, lanes innermost.
    int copies = 1;
    bool is_private = false;   // an alloca, which nothing else can access
    bool is_swizzled = false;  // WarpgroupPlan::swizzled
    // The buffer is private, and the mask of every store to it leaves out its pad lanes, which may
    // hold anything.
    bool pads_free = false;
    bool is_constant = false;  // never written while this launch runs
    llvm::MDNode* scope = nullptr;
    llvm::MDNode* no_alias = nullptr;

    static Storage Of(const loop::BufferNode& buffer, int copies = 1);
  };
  // Where in memory the lanes of an access lie. kUniform: all at one element. kRamp: `stride`
  // elements apart. kPermuted: at constant places within one vector of memory. kPieces: at other
  // constant places. kScattered: anywhere.
  enum class Reach { kUniform, kRamp, kPermuted, kPieces, kScattered };
  struct Address {
    Reach reach = Reach::kUniform;
    llvm::Value* pointer = nullptr;  // kUniform, kRamp: to lane 0; kPermuted, kPieces: to place 0
    llvm::Value* offsets = nullptr;  // kScattered, kPermuted, kPieces: of the lanes, in elements
    std::vector<int> places;         // kPermuted, kPieces: of the lanes, in elements from `pointer`
    int width = 0;                   // kPermuted: elements of that vector
    int64_t stride = 0;              // kRamp, in elements
    llvm::Align align;
    bool in_bounds = false;  // for all lanes, masked ones included
    const Storage* storage = nullptr;
    llvm::Type* element = nullptr;
  };
  // An innermost loop that is being emitted, with the pointers that step through memory with it.
  struct SteppedLoop {
    int atom = -1;  // the atom of its variable
    Index first;
    llvm::BasicBlock* before = nullptr;
    llvm::BasicBlock* body = nullptr;
    size_t outer_scopes = 0;  // how many scopes of index_ are outside the loop
    struct Pointer {
      llvm::Value* base;
      llvm::Type* element;
      Index::Terms terms;  // of the offset, in elements; the last is the loop's
      llvm::PHINode* value;
    };
    std::vector<Pointer> pointers;
  };
  // The lanes and mask of the code being emitted.
  struct VectorState {
    int lanes = 1;
    int lane_atom = -1;
    llvm::Value* mask = nullptr;  // null: all lanes
    loop::Expr condition;         // the condition whose value the mask is; null for any other mask
  };

  void Fail(std::string message);
  // ---- launch_function.cc ----
  void Declare(const std::string& name);
  void Begin(llvm::Function* function);
  // `changing` are the buffers that something may store to while the launch runs. `base_of` gives
  // the address of a buffer by its index in the nest, or null if the launch does not use it.
  void BindBuffers(const loop::BufferSet& changing,
                   const std::function<llvm::Value*(size_t)>& base_of);
  void EmitGrid(const lower::LoweredLaunch& launch);
  // Binds the grid's variables for a position in it, and emits the body.
  void EmitAtPosition(const lower::LoweredLaunch& launch, llvm::Value* position);
  // ---- launch_kernel.cc ----
  // `from_others` are the buffers that the launch reads and others may store to meanwhile.
  void DeclareKernel(const std::string& name, const std::vector<uint32_t>& arguments,
                     const loop::LaunchAccess& access, const loop::BufferSet& from_others);
  // The position in the grid that a thread works on alone. Threads beyond the grid return.
  llvm::Value* PositionOfThread(const lower::LoweredLaunch& launch, uint32_t block_threads);
  // The position that the threads of a block work on together. Binds the variable of `thread` to
  // the thread's number in its block.
  llvm::Value* PositionOfBlock(const lower::GridLoop& thread);
  llvm::Value* SharedMemory(const loop::BufferNode& buffer);
  // ---- launch_dependents.cc ----
  void EmitWaitForLaunches();
  void EmitStartOfDependents();
  // ---- launch_copies.cc ----
  void EmitBarrier(int pending);
  void EmitCommit();
  // Begins a copy to shared memory. Returns false, and begins none, if no instruction does what the
  // store does.
  bool EmitCopy(const loop::Stmt& s);
  // ---- launch_statements.cc ----
  void EmitStmt(const loop::Stmt& s);
  void EmitOfKind(const loop::Stmt& s);
  void EmitFor(const loop::Stmt& s);
  void EmitSerial(const loop::Stmt& s, const Index& min, const Index& extent);
  void EmitUnrolled(const loop::Stmt& s, const Index& min, int64_t extent);
  void EmitVectorized(const loop::Stmt& s, const Index& min, int64_t extent);
  void BeginLanes(const loop::Stmt& vectorized, const Index& min, int64_t lanes);
  // `a` minus `stride` times the lane.
  Index WithoutLanes(const Index& a, int64_t stride) const {
    return IndexMath::Sum(a, Index{0, {{vector_.lane_atom, 1}}}, -stride);
  }
  void EmitIf(const loop::Stmt& s);
  void EmitWhile(const loop::Stmt& s);
  void EmitAlloc(const loop::Stmt& s);
  void EmitUndefined(const loop::BufferNode& buffer, llvm::Value* slot);
  void EmitPrefetch(const loop::Stmt& s);
  void EmitStore(const loop::Stmt& s);
  bool CopiesBits(const loop::Stmt& s) const;
  llvm::Value* LoadBits(const loop::Expr& load);
  // ---- launch_dot.cc ----
  // Emits a loop of LoweredLaunch::dots.
  void EmitDot(const loop::Stmt& s, const Index& min);
  llvm::Value* LoadPacked(const loop::Expr& load);
  llvm::Value* PackedBytesOf(const loop::DotFactor& factor);
  // ---- launch_tile.cc ----
  void BeginTiles();
  void EndTiles();
  void SetTileShapes(size_t shapes);
  void EmitTileAlloc(const loop::Stmt& s, const lower::TilePlan::Region& region);
  void EmitTile(const loop::TileOperation& op);
  void EmitTileProduct(const loop::TileOperation& op, int sum);
  int LoadTile(const loop::TileOperand& operand, const lower::TileKind& kind);
  void EmitTileCall(llvm::Intrinsic::ID id, int tile, llvm::ArrayRef<llvm::Value*> arguments);
  // Forgets the factors that registers hold, because memory may have changed or the code may be
  // reached by another path.
  void ForgetTiles() { held_tiles_.clear(); }
  // ---- launch_warp.cc ----
  // The sums of a buffer, which the threads of a warp hold together. Each thread has an array with
  // four sums of every tile, in the order of the tiles.
  struct WarpSums {
    struct Axis {
      int64_t extent = 1;  // of a tile along the axis, in elements
      int64_t stride = 1;  // from a tile to the next one along the axis, in tiles of the array
    };
    llvm::Value* base = nullptr;
    std::vector<Axis> axes;
  };
  void BeginWarps();
  void EmitWarpSums(const loop::Stmt& s, const lower::WarpPlan::Tiling& tiling);
  void BindTile(const loop::TileOperation& op, const Index& row, const Index& lane,
                const Index& step);
  std::array<llvm::Value*, 4> WarpSumsAt(const loop::TileOperation& op, int64_t lane);
  void EmitWarpOperation(const loop::TileOperation& op);
  void StoreWarpSums(const loop::TileOperation& op, int64_t lane);
  llvm::Value* LoadMatrices(const loop::Expr& load, bool has_four);
  llvm::Value* LoadWord(const loop::Expr& load);
  std::vector<llvm::Value*> LoadWarpRows(const loop::TileOperation& op, int64_t step);
  std::vector<llvm::Value*> LoadWarpLanes(const loop::TileOperation& op, int64_t step);
  void EmitWarpProduct(const loop::TileOperation& op);
  void EmitSplitProduct(const loop::TileOperation& op);
  // ---- launch_warpgroup.cc ----
  void EmitWarpgroupProduct(const lower::WarpgroupProduct& product);
  void EmitWarpgroupFence();
  // Emits a loop each of whose iterations waits for the product of the one before. Ahead of the
  // loop the sums move to registers of PTX; behind it come the wait for the last product, and the
  // way back.
  void EmitLateProducts(const loop::Stmt& s, const lower::WarpgroupProduct& product);
  // The addresses of the thread's sums of the product, in the order of the instruction's operands.
  std::vector<llvm::Value*> SumsOf(const lower::WarpgroupProduct& product);
  // Descriptors of the operand, one for every 16 terms of the tile operation. The variables of
  // `product.parts` must be bound.
  std::vector<llvm::Value*> DescriptorsOf(const lower::WarpgroupProduct& product,
                                          const loop::Expr& load);
  // Sets the address of an access to a swizzled buffer. `first` is the offset of the first lane, in
  // elements; `address.stride` says where the other lanes are, and must be 0 or 1.
  void LocateSwizzled(const Index& first, Address& address);
  // ---- launch_transpose.cc ----
  // The memory that a transposed access reaches (lower/transpositions.h): its rows are neighbours.
  struct Tile {
    const Storage* storage = nullptr;
    llvm::Type* element = nullptr;
    Index first;         // where lane 0 of the first row is
    int64_t stride = 0;  // from lane to lane, in elements
  };
  void EmitTransposed(const lower::Transposition& plan, const loop::Expr& row, const Index& min,
                      int64_t rows);
  void EmitTransposedTile(const lower::Transposition& plan, const loop::Expr& row, const Index& min,
                          int64_t rows);
  Tile TileAt(const loop::Buffer& buffer, const std::vector<loop::Expr>& indices, int64_t stride);
  std::vector<llvm::Value*> LoadTransposed(const Tile& tile, int64_t rows);
  void StoreTransposed(const Tile& tile, const std::vector<llvm::Value*>& rows);
  void StoreRows(const Tile& tile, llvm::Value* pointer, std::vector<llvm::Value*> rows);
  llvm::BasicBlock* NewBlock(const char* name);
  void CloseLoop(llvm::BranchInst* back);
  // ---- launch_expressions.cc ----
  llvm::Value* EmitExpr(const loop::Expr& e);
  llvm::Value* KnownValue(const loop::Expr& e) const;
  llvm::Value* EmitNode(const loop::Expr& e);
  llvm::Value* EmitMade(const loop::Expr& e);
  llvm::Value* EmitBinaryExpr(const loop::Expr& e);
  llvm::Value* EmitContracted(const loop::Expr& e);
  llvm::Value* EmitFactor(const loop::Expr& e);
  llvm::Value* EmitComparison(const loop::Expr& e);
  llvm::Value* EmitExpOrZero(const loop::Expr& e);
  llvm::Value* EmitSelect(const loop::Expr& e);
  llvm::Value* EmitSelectByBranch(const loop::Expr& e, llvm::Value* condition);
  llvm::Value* EmitMasked(const loop::Expr& e, llvm::Value* condition);
  // The value as linear index arithmetic. With `speculative` the code is ahead of a condition:
  // nullopt if it would need a value that must not be computed there.
  std::optional<Index> IndexOf(const loop::Expr& e, bool speculative = false);
  std::optional<Index> IndexOfBinary(const loop::Expr& e, bool speculative);
  std::optional<Index> IndexOfSelect(const loop::Expr& e, bool speculative);
  // The emitted value as an atom; it is known to be in `within`.
  std::optional<Index> OpaqueIndex(const loop::Expr& e, bool speculative,
                                   loop::Interval within = {});
  std::optional<bool> Decide(const loop::Expr& condition);
  // Whether evaluating `e` may fault when the condition that guards it does not hold.
  bool MayFault(const loop::Expr& e);
  // ---- launch_memory.cc ----
  const Storage* FindStorage(const loop::Buffer& buffer);
  std::optional<Index> OffsetOf(const loop::Buffer& buffer, const std::vector<loop::Expr>& indices,
                                const Storage& storage, bool speculative);
  bool InBounds(const Index& offset, const Storage& storage) const;
  Address Locate(const loop::Buffer& buffer, const std::vector<loop::Expr>& indices);
  // A pointer to an offset without its constant part, if the offset steps with the loop; otherwise
  // null.
  llvm::Value* SteppedPointer(const Storage& storage, llvm::Type* element, const Index& offset);
  void StepPointers(const SteppedLoop& loop);
  // Turns a scattered address into kPermuted or kPieces if its lanes are at constant places.
  void LocatePlaces(const Index& offset, Address& address);
  // The number of elements of a vector in memory that covers all lanes; `first` becomes its start.
  // 0 if no such vector may be read.
  int WidthOfPermuted(const std::vector<int64_t>& lanes, const Storage& storage,
                      Index& first) const;
  llvm::Value* EmitLoad(const loop::Expr& e);
  llvm::Value* LoadStored(const Address& address);
  llvm::Value* LoadUniform(const Address& address);
  llvm::Value* LoadRamp(const Address& address);
  llvm::Value* LoadStrided(const Address& address);
  llvm::Value* LoadPermuted(const Address& address);
  llvm::Value* LoadPieces(const Address& address, size_t lane, size_t count);
  llvm::Value* LoadScattered(const Address& address);
  void StoreLanes(const Address& address, llvm::Value* value, bool masks_pads = false);
  void StoreRamp(const Address& address, llvm::Value* value, bool masks_pads);
  llvm::Value* LanePointers(const Address& address);
  llvm::Instruction* Annotate(llvm::Instruction* access, const Storage& storage, bool is_load);

  // Forgets the values of expressions, since loads may give other values from now on.
  void BeginStatement() {
    values_.resize(1);
    values_[0].clear();
    made_.clear();
  }
  // A scope is a branch inside an expression.
  void PushScope();
  void PopScope();

  llvm::Module& module_;
  const loop::Nest& nest_;
  TargetTraits traits_;
  llvm::LLVMContext& context_;
  Builder b_;
  IndexMath index_;
  llvm::Function* function_ = nullptr;
  llvm::Value* scratch_ = nullptr;  // the thread's scratch memory; null in a GPU kernel
  absl::Status status_;

  absl::flat_hash_map<const loop::ExprNode*, Index> vars_;
  absl::flat_hash_map<const loop::BufferNode*, Storage> storage_;
  // Values of the expressions of the statement being emitted, innermost branch last.
  std::vector<absl::flat_hash_map<const loop::ExprNode*, llvm::Value*>> values_;
  std::vector<loop::Expr> made_;  // keeps expressions alive whose nodes are keys of values_
  VectorState vector_;
  SteppedLoop* stepped_ = nullptr;                   // null outside such loops
  const lower::LoweredLaunch* launch_ = nullptr;     // the one being emitted
  const lower::TilePlan::Region* region_ = nullptr;  // the one being emitted, if any
  // The variable in which the emitted code keeps the index of the tile shapes that are set; null if
  // the launch has less than two.
  llvm::Value* tile_shapes_ = nullptr;
  // Factors in registers, the last used one at the end.
  struct HeldTile {
    lower::TileKind kind;
    const loop::BufferNode* buffer = nullptr;
    Index first;
    int64_t stride = 0;
    int number = 0;
  };
  std::vector<HeldTile> held_tiles_;
  absl::flat_hash_map<const loop::BufferNode*, WarpSums> warp_sums_;
  bool has_sum_registers_ = false;  // whether the kernel declares those of late products
  // Parts of n, the thread's number in its warp, for launches whose warps do tile operations.
  struct WarpLane {
    Index row, pair;            // n / 4, n % 4
    Index of_sixteen, sixteen;  // n % 16, n / 16
    Index of_eight, eight;      // n % 8, n / 8 % 2
  };
  WarpLane lane_;
  // For each transposed load of the statement being emitted, its vector in every iteration of the
  // unrolled loop around the statement.
  absl::flat_hash_map<const loop::ExprNode*, std::vector<llvm::Value*>> transposed_;
  int64_t transposed_row_ = 0;

  llvm::MDNode* scratch_scope_ = nullptr;
  llvm::MDNode* scratch_no_alias_ = nullptr;
  uint64_t scratch_now_ = 0;
  uint64_t scratch_bytes_ = 0;
  uint64_t shared_now_ = 0;
  uint64_t shared_bytes_ = 0;
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_LAUNCH_EMITTER_H_
