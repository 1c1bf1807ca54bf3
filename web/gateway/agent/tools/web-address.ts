import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Throws `INVALID_PARAMS` if the URL is not http or https. */
export function requireWebAddress(url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new RpcError('INVALID_PARAMS', `\`url\` must start with https:// or http://, not ${url.slice(0, 200)}`);
}
