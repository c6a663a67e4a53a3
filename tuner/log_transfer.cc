#include "tuner/log_transfer.h"

#include <sstream>
#include <utility>

#include "support/status.h"
#include "tuner/log_reader.h"
#include "tuner/service/page.h"
#include "tuning_db/log_io.h"

namespace hone::tuner {

namespace v1 = hone::v1;

absl::StatusOr<v1::ExportLogResponse> ExportLog(tuning_db::Store& store,
                                                const v1::ExportLogRequest& request) {
  HONE_ASSIGN_OR_RETURN(const tuning_db::RecordFilter filter, FilterOf(request.filter()));
  HONE_ASSIGN_OR_RETURN(
      tuning_db::LogPage page,
      tuning_db::ExportLogPage(store, filter, request.page_token(), PageSize(request.page_size())));
  v1::ExportLogResponse response;
  response.set_lines(std::move(page.lines));
  if (!page.is_last) response.set_next_page_token(page.next);
  return response;
}

absl::StatusOr<v1::ImportLogResponse> ImportLog(tuning_db::Store& store,
                                                const v1::ImportLogRequest& request) {
  std::istringstream lines(request.lines());
  HONE_ASSIGN_OR_RETURN(const tuning_db::LogCounts counts, tuning_db::ImportLog(store, lines));
  v1::ImportLogResponse response;
  response.set_records(counts.records);
  response.set_finals(counts.finals);
  response.set_known(counts.known);
  return response;
}

}  // namespace hone::tuner
