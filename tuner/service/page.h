// Lists that come in pages, by token.
#ifndef HONE_TUNER_SERVICE_PAGE_H_
#define HONE_TUNER_SERVICE_PAGE_H_

#include <algorithm>
#include <cstdint>

namespace hone::tuner {

// How many entries a page has: as many as were asked for, up to 1000; 50 where no number was.
inline int64_t PageSize(uint32_t asked) { return asked == 0 ? 50 : std::min<int64_t>(asked, 1000); }

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_PAGE_H_
