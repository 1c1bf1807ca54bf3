import { stat } from 'node:fs/promises';
import { readCertificate, type TlsFiles } from './certificate.ts';
import type { TlsFront } from './tls-front.ts';

const CHECK_MS = 60 * 60_000;
const EXPIRY_WARNING_MS = 14 * 24 * 60 * 60_000;

interface CertificateRenewalDeps {
  files: TlsFiles;
  front: Pick<TlsFront, 'renew'>;
  log(line: string): void;
  /** Override for tests. */
  checkMs?: number;
}

/** Reloads a replaced certificate without a restart. Checks every hour, and warns before it expires. */
export function startCertificateRenewal({ files, front, log, checkMs = CHECK_MS }: CertificateRenewalDeps): { stop(): void } {
  let loadedVersion: string | undefined;
  let problem: string | undefined;
  /** Days left at the last check. */
  let warnedDays: number | undefined;
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    try {
      const version = (await Promise.all([stat(files.cert), stat(files.key)])).map(({ mtimeMs, size }) => `${mtimeMs}/${size}`).join();
      const certificate = await readCertificate(files);
      if (loadedVersion !== undefined && version !== loadedVersion) {
        front.renew(certificate);
        log('Loaded the new certificate');
      }
      loadedVersion = version;
      problem = undefined;
      const days = Math.floor((certificate.validTo - Date.now()) / (24 * 60 * 60_000));
      if (certificate.validTo < Date.now() + EXPIRY_WARNING_MS && days !== warnedDays)
        log(`Warning: The certificate expires in ${days} ${days === 1 ? 'day' : 'days'}. Renew ${files.cert}`);
      warnedDays = days;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== problem) log(`Warning: ${message}. The previous certificate is still in use`);
      problem = message;
    } finally {
      isChecking = false;
    }
  };
  void check();
  const timer = setInterval(() => void check(), checkMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
