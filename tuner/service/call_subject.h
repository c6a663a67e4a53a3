// What a call is about: which job, worker, record or grant.
#ifndef HONE_TUNER_SERVICE_CALL_SUBJECT_H_
#define HONE_TUNER_SERVICE_CALL_SUBJECT_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace hone::tuner {

// Whether something is said of calls of the method ("/hone.v1.TuningService/CancelJob").
bool HasSubject(std::string_view method);

// Adds the numbers and names that the message has to `subject`: "job", "worker", "record", "grant".
// No token, no workload, and of a text that callers choose only its beginning. The message is of
// the method's type; nothing is added for a method without a subject.
void AddSubjectOfRequest(std::string_view method, const void* message, nlohmann::json& subject);
// What is known once it is done, such as the number of the new job.
void AddSubjectOfResponse(std::string_view method, const void* message, nlohmann::json& subject);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_CALL_SUBJECT_H_
