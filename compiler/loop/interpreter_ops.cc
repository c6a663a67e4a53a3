#include <cmath>

#include "compiler/loop/interpreter_code.h"
#include "compiler/loop/scalar.h"
#include "fmt/format.h"

namespace hone::loop::interpreter {
namespace {

template <DataType kType>
struct Stored;
template <>
struct Stored<DataType::kFloat32> {
  using Type = float;
};
template <>
struct Stored<DataType::kFloat64> {
  using Type = double;
};
template <>
struct Stored<DataType::kInt8> {
  using Type = int8_t;
};
template <>
struct Stored<DataType::kInt16> {
  using Type = int16_t;
};
template <>
struct Stored<DataType::kInt32> {
  using Type = int32_t;
};
template <>
struct Stored<DataType::kInt64> {
  using Type = int64_t;
};
template <>
struct Stored<DataType::kUInt8> {
  using Type = uint8_t;
};
template <>
struct Stored<DataType::kUInt16> {
  using Type = uint16_t;
};
template <>
struct Stored<DataType::kUInt32> {
  using Type = uint32_t;
};
template <>
struct Stored<DataType::kUInt64> {
  using Type = uint64_t;
};
template <>
struct Stored<DataType::kBool> {
  using Type = uint8_t;
};

int64_t CheckedPosition(const Place& place, Frame& frame) {
  int64_t rest[Layout::kMaxRank];
  const size_t rank = place.index_code.size();
  for (size_t d = 0; d < rank; ++d) {
    rest[d] = place.index_code[d]->i(*place.index_code[d], frame);
    if (rest[d] >= 0 && rest[d] < place.extents[d]) continue;
    if (!frame.failed) {
      frame.failed = true;
      frame.error =
          fmt::format("access {} lies outside: index {} is {}, expected 0 to {}",
                      ToText(Load(place.buffer, place.indices)), d, rest[d], place.extents[d] - 1);
    }
    return -1;
  }
  const std::vector<Layout::Dim>& dims = place.buffer->layout.dims();
  int64_t position = 0;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    int64_t& index = rest[dims[i].axis];
    if (dims[i].factor == 0) {
      position += index * stride;
    } else {
      position += index % dims[i].factor * stride;
      index /= dims[i].factor;
    }
    stride *= place.physical[i];
  }
  return position;
}

// In elements; -1 where the access failed.
inline int64_t Position(const Place& place, Frame& frame) {
  if (!place.safe) return CheckedPosition(place, frame);
  int64_t position = frame.cells[place.cell];
  for (const Place::Term& term : place.terms) {
    position += term.coefficient * term.code->i(*term.code, frame);
  }
  return position;
}

template <DataType kType>
double LoadFloat(const Code& code, Frame& frame) {
  const int64_t position = Position(*code.place, frame);
  if (position < 0) return 0;
  const void* memory = frame.memory[code.place->memory];
  if constexpr (kType == DataType::kFloat16) {
    return DecodeFloat16(static_cast<const uint16_t*>(memory)[position]);
  } else if constexpr (kType == DataType::kBFloat16) {
    return DecodeBFloat16(static_cast<const uint16_t*>(memory)[position]);
  } else {
    return static_cast<double>(static_cast<const typename Stored<kType>::Type*>(memory)[position]);
  }
}

template <DataType kType>
int64_t LoadInt(const Code& code, Frame& frame) {
  const int64_t position = Position(*code.place, frame);
  if (position < 0) return 0;
  const void* memory = frame.memory[code.place->memory];
  return static_cast<int64_t>(static_cast<const typename Stored<kType>::Type*>(memory)[position]);
}

template <DataType kType>
void StoreValue(const Action& action, Frame& frame) {
  const Code& value = *action.value;
  if constexpr (kType == DataType::kFloat16 || kType == DataType::kBFloat16) {
    const double result = value.f(value, frame);
    const int64_t position = Position(*action.place, frame);
    if (position < 0) return;
    static_cast<uint16_t*>(frame.memory[action.place->memory])[position] =
        kType == DataType::kFloat16 ? EncodeFloat16(result) : EncodeBFloat16(result);
  } else {
    using Type = typename Stored<kType>::Type;
    Type result;
    if constexpr (kType == DataType::kFloat32 || kType == DataType::kFloat64) {
      result = static_cast<Type>(value.f(value, frame));
    } else {
      result = static_cast<Type>(value.i(value, frame));
    }
    const int64_t position = Position(*action.place, frame);
    if (position >= 0) static_cast<Type*>(frame.memory[action.place->memory])[position] = result;
  }
}

template <BinaryOp kOp, bool kSingle>
double FastFloat(const Code& code, Frame& frame) {
  const double a = Left(code, frame);
  const double b = Right(code, frame);
  double value = 0;
  if constexpr (kOp == BinaryOp::kAdd) value = a + b;
  if constexpr (kOp == BinaryOp::kSub) value = a - b;
  if constexpr (kOp == BinaryOp::kMul) value = a * b;
  if constexpr (kOp == BinaryOp::kDiv) value = a / b;
  if constexpr (kOp == BinaryOp::kMax) value = std::isnan(a) ? a : (b > a || std::isnan(b)) ? b : a;
  if constexpr (kOp == BinaryOp::kMin) value = std::isnan(a) ? a : (b < a || std::isnan(b)) ? b : a;
  return kSingle ? static_cast<double>(static_cast<float>(value)) : value;
}

template <BinaryOp kOp>
FloatFn FastFloatOf(DataType dtype) {
  if (dtype == DataType::kFloat32) return FastFloat<kOp, true>;
  return dtype == DataType::kFloat64 ? FastFloat<kOp, false> : nullptr;
}

FloatFn FastFloatOf(BinaryOp op, DataType dtype) {
  switch (op) {
    case BinaryOp::kAdd:
      return FastFloatOf<BinaryOp::kAdd>(dtype);
    case BinaryOp::kSub:
      return FastFloatOf<BinaryOp::kSub>(dtype);
    case BinaryOp::kMul:
      return FastFloatOf<BinaryOp::kMul>(dtype);
    case BinaryOp::kDiv:
      return FastFloatOf<BinaryOp::kDiv>(dtype);
    case BinaryOp::kMax:
      return FastFloatOf<BinaryOp::kMax>(dtype);
    case BinaryOp::kMin:
      return FastFloatOf<BinaryOp::kMin>(dtype);
    default:
      return nullptr;
  }
}

double AnyFloat(const Code& code, Frame& frame) {
  const double a = Left(code, frame);
  return EvalFloat(code.binary_op, a, Right(code, frame), code.dtype);
}

template <BinaryOp kOp>
int64_t FastInt(const Code& code, Frame& frame) {
  const uint64_t a = static_cast<uint64_t>(LeftInt(code, frame));
  const uint64_t b = static_cast<uint64_t>(RightInt(code, frame));
  if constexpr (kOp == BinaryOp::kAdd) return static_cast<int64_t>(a + b);
  if constexpr (kOp == BinaryOp::kSub) return static_cast<int64_t>(a - b);
  if constexpr (kOp == BinaryOp::kMul) return static_cast<int64_t>(a * b);
  return 0;
}

template <BinaryOp kOp>
int64_t Compare(const Code& code, Frame& frame) {
  const int64_t a = LeftInt(code, frame);
  return CompareInt(kOp, a, RightInt(code, frame), DataType::kInt64);
}

int64_t AnyInt(const Code& code, Frame& frame) {
  const int64_t a = LeftInt(code, frame);
  const int64_t b = RightInt(code, frame);
  return EvalInt(code.binary_op, a, b, code.operand_dtype);
}

// Calls `function` with the type as a template argument.
template <typename Function>
void Dispatch(DataType dtype, Function function) {
  switch (dtype) {
    case DataType::kFloat32:
      return function.template operator()<DataType::kFloat32>();
    case DataType::kFloat64:
      return function.template operator()<DataType::kFloat64>();
    case DataType::kFloat16:
      return function.template operator()<DataType::kFloat16>();
    case DataType::kBFloat16:
      return function.template operator()<DataType::kBFloat16>();
    case DataType::kInt8:
      return function.template operator()<DataType::kInt8>();
    case DataType::kInt16:
      return function.template operator()<DataType::kInt16>();
    case DataType::kInt32:
      return function.template operator()<DataType::kInt32>();
    case DataType::kInt64:
      return function.template operator()<DataType::kInt64>();
    case DataType::kUInt8:
      return function.template operator()<DataType::kUInt8>();
    case DataType::kUInt16:
      return function.template operator()<DataType::kUInt16>();
    case DataType::kUInt32:
      return function.template operator()<DataType::kUInt32>();
    case DataType::kUInt64:
      return function.template operator()<DataType::kUInt64>();
    case DataType::kBool:
      return function.template operator()<DataType::kBool>();
  }
}

}  // namespace

FloatFn FloatLoadFn(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
      return LoadFloat<DataType::kFloat32>;
    case DataType::kFloat64:
      return LoadFloat<DataType::kFloat64>;
    case DataType::kFloat16:
      return LoadFloat<DataType::kFloat16>;
    case DataType::kBFloat16:
      return LoadFloat<DataType::kBFloat16>;
    default:
      return nullptr;
  }
}

IntFn IntLoadFn(DataType dtype) {
  switch (dtype) {
    case DataType::kInt8:
      return LoadInt<DataType::kInt8>;
    case DataType::kInt16:
      return LoadInt<DataType::kInt16>;
    case DataType::kInt32:
      return LoadInt<DataType::kInt32>;
    case DataType::kInt64:
      return LoadInt<DataType::kInt64>;
    case DataType::kUInt8:
      return LoadInt<DataType::kUInt8>;
    case DataType::kUInt16:
      return LoadInt<DataType::kUInt16>;
    case DataType::kUInt32:
      return LoadInt<DataType::kUInt32>;
    case DataType::kUInt64:
      return LoadInt<DataType::kUInt64>;
    case DataType::kBool:
      return LoadInt<DataType::kBool>;
    default:
      return nullptr;
  }
}

StoreFn StoreFnOf(DataType dtype) {
  StoreFn store = nullptr;
  Dispatch(dtype, [&]<DataType kType>() { store = StoreValue<kType>; });
  return store;
}

FloatFn FloatFnOf(BinaryOp op, DataType dtype) {
  const FloatFn fast = FastFloatOf(op, dtype);
  return fast != nullptr ? fast : AnyFloat;
}

IntFn IntFnOf(BinaryOp op, DataType dtype) {
  if (dtype == DataType::kUInt64) return AnyInt;
  switch (op) {
    case BinaryOp::kAdd:
      return dtype == DataType::kInt64 ? FastInt<BinaryOp::kAdd> : AnyInt;
    case BinaryOp::kSub:
      return dtype == DataType::kInt64 ? FastInt<BinaryOp::kSub> : AnyInt;
    case BinaryOp::kMul:
      return dtype == DataType::kInt64 ? FastInt<BinaryOp::kMul> : AnyInt;
    case BinaryOp::kLt:
      return Compare<BinaryOp::kLt>;
    case BinaryOp::kLe:
      return Compare<BinaryOp::kLe>;
    case BinaryOp::kGe:
      return Compare<BinaryOp::kGe>;
    case BinaryOp::kAnd:
      return Compare<BinaryOp::kAnd>;
    default:
      return AnyInt;
  }
}

}  // namespace hone::loop::interpreter
