import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface CertificateFiles {
  /** Files, PEM. */
  cert: string;
  key: string;
  /** CA certificate for clients. */
  ca: string;
}

/** Creates a certificate for these names (`DNS:…`, `IP:…`) in a folder with openssl. `days`: validity from now; negative: expired. */
export async function createSelfSigned(dir: string, names: readonly string[], { days = 2, file = 'tls' } = {}): Promise<CertificateFiles> {
  const [cert, key] = [join(dir, `${file}.crt`), join(dir, `${file}.key`)];
  const at = (ms: number): string => `${new Date(ms).toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '')}`;
  const now = Date.now();
  const until = now + days * 86_400_000;
  const from = Math.min(now, until) - 86_400_000;
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert],
    ...['-subj', '/CN=Perch test', '-addext', `subjectAltName=${names.join(',')}`],
    ...(days > 0 ? ['-days', String(days)] : ['-not_before', at(from), '-not_after', at(until)]),
  ]);
  return { cert, key, ca: await readFile(cert, 'utf8') };
}
