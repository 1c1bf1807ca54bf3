import { z } from '#shared/rpc/zod.ts';
import type { Fetch } from '../ports/fetch.ts';

/** The hub refused a request, or its response is invalid. */
export class HubError extends Error {
  override name = 'HubError';
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;

  constructor(message: string, options: ErrorOptions & { isTransient?: boolean } = {}) {
    super(message, options);
    this.isTransient = options.isTransient ?? false;
  }
}

export interface HubFile {
  /** Path in the repository. */
  path: string;
  size: number;
}

const REPO_PATTERN = /^(?!\.)[\w.-]{1,100}\/(?!\.)[\w.-]{1,100}$/;
const size = z.number().int().nonnegative();
const fileListSchema = z.array(
  z.object({ type: z.string(), path: z.string().max(1000), size, lfs: z.object({ size: size.optional() }).nullish() }),
);
/** Maximum size of a list of files. */
const MAX_LIST_CHARS = 16 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const RESPONSE_TIMEOUT_MS = 30_000;

interface HubOptions {
  /** Address of Hugging Face, or of a compatible server. */
  base: string;
  fetch: Fetch;
  /** Called with each origin before it is requested. */
  onRequest(origin: string): void;
}

/** Client for Hugging Face, or a mirror of it, without a person's token. */
export class BrowserHub {
  readonly base: string;
  readonly #options: HubOptions;

  constructor(options: HubOptions) {
    this.base = options.base.replace(/\/+$/, '');
    this.#options = options;
  }

  /** The files of a repository, `<owner>/<name>`. Throws a HubError. */
  async files(repo: string, signal: AbortSignal): Promise<HubFile[]> {
    if (!REPO_PATTERN.test(repo)) throw new HubError(`"${repo}" is not a repository name. Use the form <owner>/<name>.`);
    const response = await this.#open(`${this.base}/api/models/${repo}/tree/main?recursive=true`, {}, repo, signal);
    const files = fileListSchema.safeParse(await readJson(response, this.base));
    if (!files.success) throw new HubError(`${this.base} sent an unexpected file list for ${repo}.`);
    return files.data.filter(({ type }) => type === 'file').map(({ path, size: bytes, lfs }) => ({ path, size: lfs?.size ?? bytes }));
  }

  /** The bytes of a file after `from`; `start` is where they begin, which is 0 if the hub ignores the range. Throws a HubError. */
  async open(repo: string, path: string, from: number, signal: AbortSignal): Promise<{ start: number; body: ReadableStream<Uint8Array> }> {
    const file = path.split('/').map(encodeURIComponent).join('/');
    const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {};
    const response = await this.#open(`${this.base}/${repo}/resolve/main/${file}`, headers, repo, signal);
    const body = response.body ?? new Response(new Uint8Array()).body ?? new ReadableStream();
    if (response.status !== 206) return { start: 0, body };
    const start = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
    // If another server's CORS rules hide this header, the length decides.
    if (start === undefined || Number(start) === from) return { start: from, body };
    await body.cancel();
    throw new HubError(`${this.base} sent a different part of the file than requested.`);
  }

  async #open(first: string, headers: Record<string, string>, repo: string, signal: AbortSignal): Promise<Response> {
    let url = new URL(first);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const response = await this.#fetch(url, headers, signal);
      if (response.status === 200 || response.status === 206) return response;
      await response.body?.cancel();
      if (response.status < 300 || response.status > 399) throw toHubError(response.status, repo, this.base);
      const next = URL.parse(response.headers.get('location') ?? '', url);
      if (!next || !/^https?:$/.test(next.protocol)) throw new HubError(`${url.origin} sent a redirect without a valid address.`);
      if (url.protocol === 'https:' && next.protocol === 'http:')
        throw new HubError(`${url.origin} redirects to ${next.origin}, which is not encrypted.`);
      url = next;
    }
    throw new HubError(`${this.base} redirects too many times.`);
  }

  async #fetch(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new Error('no answer')), RESPONSE_TIMEOUT_MS);
    this.#options.onRequest(url.origin);
    try {
      // The time limit applies only to the start of the response, not to its body.
      return await this.#options.fetch(url.href, { headers, follow: true, signal: AbortSignal.any([signal, timeout.signal]) });
    } catch (cause) {
      signal.throwIfAborted();
      const reason = timeout.signal.aborted
        ? `no response within ${RESPONSE_TIMEOUT_MS / 1000} s`
        : cause instanceof Error
          ? cause.message
          : String(cause);
      throw new HubError(`Couldn’t reach ${url.origin} (${reason}).`, { cause, isTransient: true });
    } finally {
      clearTimeout(timer);
    }
  }
}

function toHubError(status: number, repo: string, base: string): HubError {
  if (status === 404) return new HubError(`${repo} was not found on ${base}.`);
  if (status === 401 || status === 403)
    return new HubError(`${base} denied access to ${repo}. The model needs a token, or you must accept its terms there.`);
  if (status === 429) return new HubError(`${base} is limiting requests. Try again later.`);
  return new HubError(`${base} failed (HTTP ${status}).`, { isTransient: status >= 500 });
}

async function readJson(response: Response, base: string): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > MAX_LIST_CHARS) throw new HubError(`${base} sent a file list that is too long.`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HubError(`${base} sent a file list that couldn’t be read.`, { cause });
  }
}
