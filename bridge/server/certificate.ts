import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import ipaddr from 'ipaddr.js';

/** Where the certificate (with what leads to its issuer, if anything does) and its key lie, both as PEM. */
export interface TlsFiles {
  cert: string;
  key: string;
}

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
  /** What it says it is for, lower case and exact: a name with a star is none that a browser could be held to. */
  names: readonly string[];
  addresses: readonly string[];
  /** Milliseconds since 1970. */
  validTo: number;
}

/** Reads a certificate and its key. Rejects with a sentence that names the file where they cannot be used together now. */
export async function readCertificate(files: TlsFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([read(files.cert, 'certificate'), read(files.key, 'key')]);
  let own: X509Certificate;
  try {
    own = new X509Certificate(cert);
  } catch (error) {
    throw new Error(`${files.cert} contains no certificate (PEM)`, { cause: error });
  }
  let matches: boolean;
  try {
    matches = own.checkPrivateKey(createPrivateKey(key));
    if (matches) createSecureContext({ cert, key });
  } catch (error) {
    throw new Error(`${files.key} contains no usable key (PEM, without a password)`, { cause: error });
  }
  if (!matches) throw new Error(`The key in ${files.key} doesn’t match the certificate in ${files.cert}`);
  const validTo = Date.parse(own.validTo);
  if (validTo <= Date.now()) throw new Error(`The certificate in ${files.cert} expired on ${own.validTo}`);
  const said = own.subjectAltName?.split(', ') ?? [];
  const valuesOf = (kind: string): string[] => said.flatMap((each) => (each.startsWith(kind) ? [each.slice(kind.length)] : []));
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

async function read(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`Couldn’t read the ${what} ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
