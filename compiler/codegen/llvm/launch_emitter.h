// One launch of a nest as one LLVM function of type hone_launch_function.
#ifndef HONE_COMPILER_CODEGEN_LLVM_LAUNCH_EMITTER_H_
#define HONE_COMPILER_CODEGEN_LLVM_LAUNCH_EMITTER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "compiler/codegen/llvm/index_math.h"
#include "compiler/codegen/llvm/values.h"
#include "compiler/loop/accumulation.h"
#include "compiler/loop/stmt.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::codegen {

struct LaunchCode {
  llvm::Function* function = nullptr;
  uint64_t scratch_bytes = 0;
};

// Emits into a module; used once. Loops marked so are unrolled, and the iterations of a vectorised
// loop are the lanes of one pass over its body: a value is a scalar while it is the same in all
// lanes.
class LaunchEmitter {
 public:
  // `outlive` it.
  LaunchEmitter(llvm::Module& module, const loop::Nest& nest, const CpuTraits& traits);

  // kInvalidArgument where the nest has a variable or buffer that nothing binds.
  absl::StatusOr<LaunchCode> Emit(const lower::LoweredLaunch& launch, const std::string& name);

 private:
  struct Storage {
    llvm::Value* base = nullptr;
    int64_t elements = 0;
    std::vector<int64_t> extents;  // of the layout's dimensions
    // Buffers allocated inside of a vectorised loop have one copy a lane, lanes innermost.
    int copies = 1;
    bool is_private = false;   // an alloca: no one else sees it
    bool pads_free = false;    // and no store means the pad lanes: they may hold anything
    bool is_constant = false;  // never written by this launch
    llvm::MDNode* scope = nullptr;
    llvm::MDNode* no_alias = nullptr;

    static Storage Of(const loop::BufferNode& buffer, int copies = 1);
  };
  // kPermuted: within one vector of memory, at places known now; kPieces: at such places anywhere.
  enum class Reach { kUniform, kRamp, kPermuted, kPieces, kScattered };
  struct Address {
    Reach reach = Reach::kUniform;
    llvm::Value* pointer = nullptr;  // kUniform, kRamp: of lane 0; kPermuted, kPieces: of place 0
    llvm::Value* offsets = nullptr;  // kScattered, kPermuted, kPieces: of the lanes, in elements
    std::vector<int> places;         // kPermuted, kPieces: of the lanes, in elements
    int width = 0;                   // kPermuted: elements of that vector
    int64_t stride = 0;              // kRamp, in elements
    llvm::Align align;
    bool in_bounds = false;  // whatever the mask says
    const Storage* storage = nullptr;
    llvm::Type* element = nullptr;
  };
  // An innermost loop that is being emitted, and what its accesses step through in pointers of
  // their own.
  struct SteppedLoop {
    int atom = -1;  // of its variable
    Index first;
    llvm::BasicBlock* before = nullptr;
    llvm::BasicBlock* body = nullptr;
    size_t outer_scopes = 0;  // of index_
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
    loop::Expr condition;         // of which the mask is all there is; or null
  };

  void Fail(std::string message);
  // ---- launch_function.cc ----
  void Declare(const std::string& name);
  void BindBuffers(const loop::Stmt& body);
  void EmitGrid(const lower::LoweredLaunch& launch);
  // ---- launch_statements.cc ----
  void EmitStmt(const loop::Stmt& s);
  void EmitFor(const loop::Stmt& s);
  void EmitSerial(const loop::Stmt& s, const Index& min, const Index& extent);
  void EmitUnrolled(const loop::Stmt& s, const Index& min, int64_t extent);
  void EmitVectorized(const loop::Stmt& s, const Index& min, int64_t extent);
  void BeginLanes(const loop::Stmt& vectorized, const Index& min, int64_t lanes);
  // `a` less `stride` times the lane.
  Index WithoutLanes(const Index& a, int64_t stride) const {
    return IndexMath::Sum(a, Index{0, {{vector_.lane_atom, 1}}}, -stride);
  }
  void EmitIf(const loop::Stmt& s);
  void EmitWhile(const loop::Stmt& s);
  void EmitAlloc(const loop::Stmt& s);
  void EmitUndefined(const loop::BufferNode& buffer, llvm::Value* slot);
  void EmitPrefetch(const loop::Stmt& s);
  void EmitStore(const loop::Stmt& s);
  // ---- launch_dot.cc ----
  bool EmitDot(const loop::Stmt& s, const Index& min, int64_t steps);
  llvm::Value* LoadPacked(const loop::Stmt& s, const Index& min, const loop::Expr& load);
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
  // Forgets the factors that registers hold: memory may have changed, or the code may be reached
  // another way.
  void ForgetTiles() { held_tiles_.clear(); }
  // ---- launch_transpose.cc ----
  // What the iterations of an unrolled loop read as rows and the lanes as columns.
  struct Tile {
    const Storage* storage = nullptr;
    Index first;
    int64_t stride = 0;  // from lane to lane, in elements
  };
  bool EmitTransposing(const loop::Stmt& s, const Index& min, int64_t rows);
  bool EmitTransposedStores(const loop::Stmt& s, const Index& min, int64_t rows);
  std::optional<Tile> TileOf(const loop::Buffer& buffer, const std::vector<loop::Expr>& indices,
                             const loop::Expr& row, const Index& min, int64_t rows);
  void FindTransposedLoads(const loop::Stmt& store, const loop::Expr& row, const Index& min,
                           int64_t rows);
  std::vector<llvm::Value*> LoadTransposed(const Tile& tile, llvm::Type* element, int64_t rows);
  void StoreTransposed(const Tile& tile, llvm::Type* element,
                       const std::vector<llvm::Value*>& rows);
  void StoreRows(const Tile& tile, llvm::Type* element, llvm::Value* pointer,
                 std::vector<llvm::Value*> rows);
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
  // The value as linear index arithmetic; nullopt where that would need a value that may not be
  // computed ahead of a condition (`speculative`).
  std::optional<Index> IndexOf(const loop::Expr& e, bool speculative = false);
  std::optional<Index> IndexOfBinary(const loop::Expr& e, bool speculative);
  std::optional<Index> IndexOfSelect(const loop::Expr& e, bool speculative);
  // An index by a value that is known to lie `within`.
  std::optional<Index> OpaqueIndex(const loop::Expr& e, bool speculative,
                                   loop::Interval within = {});
  std::optional<bool> Decide(const loop::Expr& condition);
  // Whether evaluating it may fault where its condition does not hold.
  bool MayFault(const loop::Expr& e);
  // ---- launch_memory.cc ----
  const Storage* FindStorage(const loop::Buffer& buffer);
  std::optional<Index> OffsetOf(const loop::Buffer& buffer, const std::vector<loop::Expr>& indices,
                                const Storage& storage, bool speculative);
  bool InBounds(const Index& offset, const Storage& storage) const;
  Address Locate(const loop::Buffer& buffer, const std::vector<loop::Expr>& indices);
  // To the place of an offset without a constant, where it is one that steps; else null.
  llvm::Value* SteppedPointer(const Storage& storage, llvm::Type* element, const Index& offset);
  void StepPointers(const SteppedLoop& loop);
  // Makes a scattered address one of known places where it is.
  void LocatePlaces(const Index& offset, Address& address);
  // Elements of the vector of memory that has all of them and starts at `first` then; 0: there is
  // none that may be read.
  int WidthOfPermuted(const std::vector<int64_t>& lanes, const Storage& storage,
                      Index& first) const;
  llvm::Value* EmitLoad(const loop::Expr& e);
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

  // Forgets the values of expressions: loads may give others.
  void BeginStatement() {
    values_.resize(1);
    values_[0].clear();
    made_.clear();
  }
  // A scope is a branch inside of an expression.
  void PushScope();
  void PopScope();

  llvm::Module& module_;
  const loop::Nest& nest_;
  CpuTraits traits_;
  llvm::LLVMContext& context_;
  Builder b_;
  IndexMath index_;
  llvm::Function* function_ = nullptr;
  absl::Status status_;

  absl::flat_hash_map<const loop::ExprNode*, Index> vars_;
  absl::flat_hash_map<const loop::BufferNode*, Storage> storage_;
  // Values of the expressions of the statement being emitted, innermost branch last.
  std::vector<absl::flat_hash_map<const loop::ExprNode*, llvm::Value*>> values_;
  std::vector<loop::Expr> made_;  // that are among their keys
  VectorState vector_;
  SteppedLoop* stepped_ = nullptr;  // null: the code is in none
  lower::TilePlan tiles_;
  const lower::TilePlan::Region* region_ = nullptr;  // that is being emitted
  llvm::Value* tile_shapes_ = nullptr;  // where the number of those that are set is kept; or null
  // Factors in registers, the one that was read last at the end.
  struct HeldTile {
    lower::TileKind kind;
    const loop::BufferNode* buffer = nullptr;
    Index first;
    int64_t stride = 0;
    int number = 0;
  };
  std::vector<HeldTile> held_tiles_;
  // Loads of the statement being emitted, a vector for each iteration of the loop around it.
  absl::flat_hash_map<const loop::ExprNode*, std::vector<llvm::Value*>> transposed_;
  int64_t transposed_row_ = 0;

  llvm::MDNode* scratch_scope_ = nullptr;
  llvm::MDNode* scratch_no_alias_ = nullptr;
  uint64_t scratch_now_ = 0;
  uint64_t scratch_bytes_ = 0;
  int64_t unrolled_statements_ = 0;
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_LAUNCH_EMITTER_H_
