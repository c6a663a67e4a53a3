// What a server needs to be trusted over a network.
#ifndef HONE_TUNER_TLS_OPTIONS_H_
#define HONE_TUNER_TLS_OPTIONS_H_

#include <string>

namespace hone::tuner {

struct TlsOptions {
  std::string listen;            // "HOST:PORT"; port 0: any that is free
  std::string key_file;          // in PEM, like the other files
  std::string certificate_file;  // the server's own first, and the chain to its authority
  // Clients may prove who they are by a certificate of this authority. Empty: only by tokens.
  std::string client_authority_file;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_TLS_OPTIONS_H_
