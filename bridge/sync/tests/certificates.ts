import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface SignedCertificate {
  cert: string;
  key: string;
}

/** Creates a certificate authority in a folder with OpenSSL. `ca`: path of its certificate. */
export function createAuthority(dir: string, name: string): { ca: string; sign(subject: string, names?: string): SignedCertificate } {
  const file = (suffix: string): string => join(dir, `${name}-${suffix}`);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const [ca, caKey] = [file('ca.pem'), file('ca.key')];
  openssl('req', '-x509', ...keyOptions, '-days', '2', '-subj', `/CN=${name}`, '-keyout', caKey, '-out', ca);
  return {
    ca,
    /** `names`: host names in `subjectAltName` format. */
    sign(subject, names) {
      const [cert, key, csr, extensions] = [`${subject}.pem`, `${subject}.key`, `${subject}.csr`, `${subject}.ext`].map(file) as [
        string,
        string,
        string,
        string,
      ];
      writeFileSync(extensions, names === undefined ? '' : `subjectAltName=${names}\n`);
      openssl('req', ...keyOptions, '-subj', `/CN=${subject}`, '-keyout', key, '-out', csr);
      openssl(
        'x509',
        '-req',
        '-in',
        csr,
        '-CA',
        ca,
        '-CAkey',
        caKey,
        '-CAcreateserial',
        '-days',
        '2',
        '-extfile',
        extensions,
        '-out',
        cert,
      );
      return { cert, key };
    },
  };
}
