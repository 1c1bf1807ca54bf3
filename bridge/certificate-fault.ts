/** Describes the problem with a server's certificate by OpenSSL's or Node's error code. Undefined for other codes. */
export function describeCertificateFault(code: string): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'is for another host name';
  if (code === 'CERT_HAS_EXPIRED') return 'has expired';
  if (/^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code)) return 'is not trusted';
  return undefined;
}
