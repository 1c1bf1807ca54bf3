import { stat } from 'node:fs/promises';
import { readCertificate, type TlsFiles } from './certificate.ts';
import type { TlsFront } from './tls-front.ts';

const CHECK_MS = 60 * 60_000;
const EXPIRY_WARNING_MS = 14 * 24 * 60 * 60_000;

export interface CertificateRenewalDeps {
  files: TlsFiles;
  front: Pick<TlsFront, 'renew'>;
  log(line: string): void;
  /** Override for tests. */
  lookMs?: number;
}

/** Reloads a replaced certificate without a restart. Checks every hour, and warns before it expires. */
export function startCertificateRenewal({ files, front, log, lookMs = CHECK_MS }: CertificateRenewalDeps): { stop(): void } {
  let known: string | undefined;
  let problem: string | undefined;
  /** Days left at the last check. */
  let told: number | undefined;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      const written = (await Promise.all([stat(files.cert), stat(files.key)])).map(({ mtimeMs, size }) => `${mtimeMs}/${size}`).join();
      const certificate = await readCertificate(files);
      if (known !== undefined && written !== known) {
        front.renew(certificate);
        log('Loaded the new certificate');
      }
      known = written;
      problem = undefined;
      const days = Math.floor((certificate.validTo - Date.now()) / (24 * 60 * 60_000));
      if (certificate.validTo < Date.now() + EXPIRY_WARNING_MS && days !== told)
        log(`Warning: The certificate expires in ${days} ${days === 1 ? 'day' : 'days'}. Renew ${files.cert}`);
      told = days;
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      if (said !== problem) log(`Warning: ${said}. The previous certificate is still in use`);
      problem = said;
    } finally {
      looking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), lookMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
