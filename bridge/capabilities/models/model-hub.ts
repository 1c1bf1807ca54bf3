import type { Dispatcher } from 'undici';
import type { ModelSource } from '#shared/ports/local-model.ts';
import { z } from '#shared/rpc/zod.ts';
import { request } from '../undici.ts';
import { describeConnectionError } from '../connection-error.ts';

/** A hub rejected a request or sent an invalid response. */
export class HubError extends Error {
  override name = 'HubError';
}

/** A file in a repository. */
export interface HubFile {
  /** Path in the repository. */
  path: string;
  size: number;
  /** In hex; null if the hub does not provide it. */
  sha256: string | null;
}

const REPO = /^(?!\.)[\w.-]{1,100}\/(?!\.)[\w.-]{1,100}$/;
const sha256 = z.string().regex(/^[0-9a-f]{64}$/i);
const size = z.number().int().nonnegative();
const huggingfaceList = z.array(
  z.object({ type: z.string(), path: z.string().max(1000), size, lfs: z.object({ oid: sha256, size: size.optional() }).nullish() }),
);
const modelscopeList = z.object({
  Data: z.object({
    Files: z.array(
      z.object({ Type: z.string(), Path: z.string().max(1000), Size: size, Sha256: z.union([sha256, z.literal('')]).nullish() }),
    ),
  }),
});

/** Maximum size of a file list, far above real ones. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const RESPONSE_MS = 30_000;
/** Time without data after which a download counts as interrupted. */
const SILENCE_MS = 60_000;

const HUB_ADDRESSES: Readonly<Record<ModelSource, { base: string; variable: string }>> = {
  huggingface: { base: 'https://huggingface.co', variable: 'HF_ENDPOINT' },
  modelscope: { base: 'https://modelscope.cn', variable: 'MODELSCOPE_DOMAIN' },
};

interface HubOptions {
  env?: NodeJS.ProcessEnv;
  silenceMs?: number;
}

/** A hub to download models from. Its URL and the user's token come from the same environment variables as for the hub's own tools. */
export class ModelHub {
  readonly source: ModelSource;
  readonly base: string;
  readonly #token: string | undefined;
  readonly #silenceMs: number;
  #agent: Promise<Dispatcher> | undefined;

  constructor(source: ModelSource, { env = process.env, silenceMs = SILENCE_MS }: HubOptions = {}) {
    const { base, variable } = HUB_ADDRESSES[source];
    const host = env[variable] || base;
    const address = URL.parse(/^https?:/.test(host) ? host : `https://${host}`);
    if (!address) throw new HubError(`${variable} is not a valid address`);
    this.source = source;
    this.base = address.href.replace(/\/+$/, '');
    this.#token = (source === 'huggingface' ? env.HF_TOKEN : env.MODELSCOPE_API_TOKEN) || undefined;
    this.#silenceMs = silenceMs;
  }

  /** Lists the files of a repository, `<owner>/<name>`. Throws HubError. */
  async listFiles(repo: string, signal: AbortSignal): Promise<HubFile[]> {
    if (!REPO.test(repo)) throw new HubError(`"${repo}" is not a repository. Use <owner>/<name>.`);
    const path =
      this.source === 'huggingface'
        ? `/api/models/${repo}/tree/main?recursive=true`
        : `/api/v1/models/${repo}/repo/files?Revision=master&Recursive=true`;
    const body = await this.#request(`${this.base}${path}`, {}, AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_MS)]), repo);
    const value = await readJson(body.body, this.base);
    if (this.source === 'huggingface') {
      const listed = huggingfaceList.safeParse(value);
      if (!listed.success) throw new HubError(`${this.base} sent an invalid file list for ${repo}`);
      return listed.data
        .filter(({ type }) => type === 'file')
        .map(({ path: file, size: bytes, lfs }) => ({ path: file, size: lfs?.size ?? bytes, sha256: lfs?.oid.toLowerCase() ?? null }));
    }
    const listed = modelscopeList.safeParse(value);
    if (!listed.success) throw new HubError(`${this.base} sent an invalid file list for ${repo}`);
    return listed.data.Data.Files.filter(({ Type }) => Type === 'blob').map((file) => ({
      path: file.Path,
      size: file.Size,
      sha256: file.Sha256?.toLowerCase() || null,
    }));
  }

  /** Opens a file from offset `from`, or from its beginning if the hub ignores that: see `start` in the result. Throws HubError. */
  async openFile(
    repo: string,
    path: string,
    from: number,
    signal: AbortSignal,
  ): Promise<{ start: number; body: Dispatcher.ResponseData['body'] }> {
    const file = path.split('/').map(encodeURIComponent).join('/');
    const url =
      this.source === 'huggingface' ? `${this.base}/${repo}/resolve/main/${file}` : `${this.base}/models/${repo}/resolve/master/${file}`;
    const { statusCode, headers, body } = await this.#request(url, from > 0 ? { range: `bytes=${from}-` } : {}, signal, repo);
    if (statusCode !== 206) return { start: 0, body };
    const start = /^bytes (\d+)-/.exec(String(headers['content-range']))?.[1];
    if (Number(start) === from) return { start: from, body };
    discardBody(body);
    throw new HubError(`${this.base} sent the wrong part of the file`);
  }

  async #request(first: string, headers: Record<string, string>, signal: AbortSignal, repo: string): Promise<Dispatcher.ResponseData> {
    const origin = new URL(first).origin;
    let url = new URL(first);
    const dispatcher = await (this.#agent ??= loadSystemProxy());
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      // The token is only for the hub; files may be stored on other servers.
      const authHeaders: Record<string, string> = url.origin === origin && this.#token ? { authorization: `Bearer ${this.#token}` } : {};
      const response = await request(url, {
        dispatcher,
        headers: { 'accept-encoding': 'identity', ...headers, ...authHeaders },
        signal,
        headersTimeout: RESPONSE_MS,
        bodyTimeout: this.#silenceMs,
      }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new HubError(describeConnectionError(error, url.origin), { cause: error });
      });
      const { statusCode, headers: responseHeaders } = response;
      if (statusCode === 200 || statusCode === 206) return response;
      discardBody(response.body);
      if (statusCode < 300 || statusCode > 399) throw new HubError(describeStatus(statusCode, repo, this.base));
      const next = URL.parse(String(responseHeaders['location']), url);
      if (!next || !/^https?:$/.test(next.protocol)) throw new HubError(`${url.origin} sent an invalid redirect`);
      if (url.protocol === 'https:' && next.protocol === 'http:')
        throw new HubError(`${url.origin} redirects to ${next.origin}, which is not encrypted`);
      url = next;
    }
    throw new HubError(`${this.base} redirects too many times`);
  }
}

/** Loads the system's proxy support on demand, since most users never download a model. */
async function loadSystemProxy(): Promise<Dispatcher> {
  const { default: EnvHttpProxyAgent } = await import('undici/lib/dispatcher/env-http-proxy-agent.js');
  return new EnvHttpProxyAgent();
}

/** Discards the rest of a body, ignoring the error for its early end. */
export function discardBody(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => {}).destroy();
}

function describeStatus(status: number, repo: string, base: string): string {
  if (status === 404) return `No file or repository ${repo} on ${base}`;
  if (status === 401 || status === 403) return `${base} denied access to ${repo}. Set an access token, or accept the model’s terms there.`;
  if (status === 429) return `Too many requests to ${base}. Try again later.`;
  return `${base} responded with status ${status}`;
}

async function readJson(body: Dispatcher.ResponseData['body'], base: string): Promise<unknown> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > MAX_LIST_BYTES) throw new HubError(`${base} sent a file list that is too long`);
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString()) as unknown;
  } catch (error) {
    if (error instanceof HubError) throw error;
    throw new HubError(`${base} sent an unreadable file list`, { cause: error });
  }
}
