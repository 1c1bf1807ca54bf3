import { type ClusterProblem, toClusterProblem as problemOn } from '#shared/sync/nats/cluster-problem.ts';
import { describeCertificateFault } from '../certificate-fault.ts';

/** Describes an error of the cluster connection over Node's sockets. */
export const describeClusterError = (error: unknown): ClusterProblem =>
  problemOn(error, { who: 'bridge', refusal: describeTlsError, isNetwork });

/** Describes a TLS error by OpenSSL's or Node's code. */
function describeTlsError(error: Error): string | undefined {
  const code = 'code' in error ? String(error.code) : '';
  const fault = describeCertificateFault(code);
  if (fault !== undefined) return `The server’s certificate ${fault}${fault === 'is not trusted' ? ': set its CA certificate' : ''}`;
  if (/^ERR_SSL_.*ALERT_(.*CERTIFICATE|UNKNOWN_CA)/.test(code)) return 'The cluster requires a client certificate that it trusts';
  if (/^ERR_OSSL_/.test(code)) return 'The CA certificate, client certificate or key can’t be used';
  if (/does not support 'tls'|"tls" is not available/i.test(error.message)) return 'The server doesn’t support TLS';
  return undefined;
}

const isNetwork = (error: Error): boolean =>
  ('code' in error && /^E[A-Z]+/.test(String(error.code))) || /ECONN|ENOTFOUND|EHOST|ETIMEDOUT/i.test(error.message);
