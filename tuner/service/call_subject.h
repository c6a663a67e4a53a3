// What a call is about: which job, worker, record or grant.
#ifndef HONE_TUNER_SERVICE_CALL_SUBJECT_H_
#define HONE_TUNER_SERVICE_CALL_SUBJECT_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace hone::tuner {

// Whether calls of the method ("/hone.v1.TuningService/CancelJob") have a subject.
bool HasSubject(std::string_view method);

// Adds numbers and names in the request to `subject`, under words such as "job", "worker" and
// "grant": no tokens, no workloads, and only the beginnings of texts that callers choose. The
// message is of the method's request type; nothing is added for a method without a subject.
void AddSubjectOfRequest(std::string_view method, const void* message, nlohmann::json& subject);
// Adds what is known only once the call is done, such as the number of a new job. The message is of
// the method's response type.
void AddSubjectOfResponse(std::string_view method, const void* message, nlohmann::json& subject);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_CALL_SUBJECT_H_
