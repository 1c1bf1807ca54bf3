import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import ipaddr from 'ipaddr.js';

/** Paths of the certificate (with its chain, if any) and its key, both PEM. */
export interface TlsFiles {
  cert: string;
  key: string;
}

export interface Certificate {
  /** PEM text. */
  cert: string;
  key: string;
  /** Host names of the certificate, in lower case. Wildcards are left out, since admission needs exact names. */
  names: readonly string[];
  addresses: readonly string[];
  /** Milliseconds since the Unix epoch. */
  validTo: number;
}

/** Reads a certificate and its key. Rejects with an error that names the file if they are not valid together now. */
export async function readCertificate(files: TlsFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readPem(files.cert, 'certificate'), readPem(files.key, 'key')]);
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(cert);
  } catch (error) {
    throw new Error(`${files.cert} contains no certificate (PEM)`, { cause: error });
  }
  let matches: boolean;
  try {
    matches = parsed.checkPrivateKey(createPrivateKey(key));
    if (matches) createSecureContext({ cert, key });
  } catch (error) {
    throw new Error(`${files.key} contains no usable key (PEM, without a password)`, { cause: error });
  }
  if (!matches) throw new Error(`The key in ${files.key} doesn’t match the certificate in ${files.cert}`);
  const validTo = Date.parse(parsed.validTo);
  if (validTo <= Date.now()) throw new Error(`The certificate in ${files.cert} expired on ${parsed.validTo}`);
  const altNames = parsed.subjectAltName?.split(', ') ?? [];
  const valuesOf = (kind: string): string[] => altNames.flatMap((each) => (each.startsWith(kind) ? [each.slice(kind.length)] : []));
  return {
    ...{ cert, key, validTo },
    names: valuesOf('DNS:')
      .map((name) => name.toLowerCase())
      .filter((name) => /^[a-z0-9.-]{1,253}$/.test(name) && name !== 'localhost'),
    addresses: valuesOf('IP Address:')
      .filter((address) => ipaddr.isValid(address))
      .map((address) => ipaddr.process(address).toString()),
  };
}

async function readPem(path: string, noun: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`Couldn’t read the ${noun} ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
