import { resolve } from 'node:path';
import { isLoopbackBind } from '../server/listen.ts';
import type { TlsFiles } from '../server/certificate.ts';
import { CommandError } from './command-error.ts';

interface TlsOptions {
  bind: string;
  expose?: boolean;
  tlsCert?: string;
  tlsKey?: string;
}

/**
 * Returns the absolute paths of certificate and key; undefined without both. Throws if only one is given, or if no client would use TLS.
 */
export function getTlsFiles({ bind, expose = false, tlsCert, tlsKey }: TlsOptions): TlsFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) throw new CommandError('--tls-cert and --tls-key must be used together', 2);
  if (isLoopbackBind(bind) || !expose) throw new CommandError('--tls-cert only applies to other computers. Add --bind and --expose.', 2);
  return { cert: resolve(tlsCert), key: resolve(tlsKey) };
}
