import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { KeyedQueue } from '#shared/async/keyed-queue.ts';
import { MAX_CLONE_BYTES } from '#shared/ports/folders-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { createCommandEnvironment } from '../../processes/command-environment.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { ProgramLimitError, runManagedProgram } from '../../processes/run-managed-program.ts';
import { checkAddress, checkHostName } from '../address-policy.ts';
import { startGuardedProxy } from '../browser/guarded-proxy.ts';
import { resolveHost, type ResolveHost } from '../pinned-lookup.ts';
import { HostAllowlist, parseWebUrl } from '../web-guard.ts';
import { getErrorCode } from '../../home-directory.ts';

const CLONE_TIMEOUT_MS = 10 * 60_000;
const SIZE_CHECK_MS = 1_000;
/** Maximum number of files and folders of a copy, which small trees can multiply without end. */
const MAX_FILES = 200_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Facts about a copy, in `perch.json` next to its files. */
const copySchema = z.object({ version: z.literal(1), url: z.string(), ref: z.string().optional() });

interface RepositoryAddress {
  url: string;
  protocol: 'https' | 'http' | 'ssh';
  /** Without brackets. */
  hostname: string;
  /** With its port, if it is not the usual one. */
  host: string;
}

interface Checkout {
  root: string;
  commit: string;
}

interface RepositoriesOptions {
  /** The bridge's home. */
  home: string;
  keeper: Pick<ProcessKeeper, 'keep'>;
  resolve?: ResolveHost;
  maxBytes?: number;
  env?: NodeJS.ProcessEnv;
}

interface GitTask {
  address: RepositoryAddress;
  allow: readonly string[];
  signal: AbortSignal;
  onProgress(bytes: number): void;
}

/**
 * Shallow copies of repositories in `repositories` of the bridge's home. A repository's contents are untrusted: git runs without the
 * user's configuration, so without hooks, filters and credential helpers, writes links as files, and reaches only permitted addresses.
 */
export class ClonedRepositories {
  readonly folder: string;
  readonly #keeper: Pick<ProcessKeeper, 'keep'>;
  readonly #resolve: ResolveHost;
  readonly #maxBytes: number;
  readonly #env: NodeJS.ProcessEnv;
  readonly #queue = new KeyedQueue<never>();

  constructor({ home, keeper, resolve = resolveHost, maxBytes = MAX_CLONE_BYTES, env = process.env }: RepositoriesOptions) {
    this.folder = join(home, 'repositories');
    this.#keeper = keeper;
    this.#resolve = resolve;
    this.#maxBytes = maxBytes;
    this.#env = env;
  }

  /** Clones a repository, or updates the copy of it. */
  async clone({ url, ref }: { url: string; ref?: string | undefined }, options: Omit<GitTask, 'address'>): Promise<Checkout> {
    const address = parseRepositoryUrl(url, options.allow);
    if (ref !== undefined && !/^[\p{L}\p{N}_][\p{L}\p{N}._/+@-]*$/u.test(ref))
      throw new RpcError('INVALID_PARAMS', `${ref} is not a branch or tag.`);
    const key = createHash('sha256')
      .update(JSON.stringify([address.url, ref ?? null]))
      .digest('hex')
      .slice(0, 12);
    const name =
      basename(address.url.replace(/\/+$/, ''), '.git')
        .replaceAll(/[^A-Za-z0-9_-]/g, '-')
        .slice(0, 60) || 'repository';
    const root = join(this.folder, `${name}-${key}`);
    return this.#queue.runExclusive(root, async () => {
      const exists = await lstat(root).catch(() => undefined);
      if (exists) return this.#update(root, { ...options, address });
      const temporary = join(this.folder, `.${randomBytes(6).toString('hex')}.tmp`);
      await mkdir(temporary, { recursive: true, mode: 0o700 });
      try {
        await this.#git(['init', '--quiet', '--template=', '.'], temporary, { ...options, address });
        await this.#fetch(temporary, ref, { ...options, address });
        await writeFile(
          join(temporary, '.git', 'perch.json'),
          JSON.stringify({ version: 1, url: address.url, ...(ref === undefined ? {} : { ref }) }),
        );
        await rename(temporary, root);
      } finally {
        await rm(temporary, { recursive: true, force: true });
      }
      return { root, commit: await this.#readCommit(root, { ...options, address }) };
    });
  }

  /** Updates a copy. Throws `NOT_FOUND` if there is none. */
  async pull(root: string, options: Omit<GitTask, 'address'>): Promise<Checkout & { changed: boolean }> {
    if (!this.includes(root)) throw new RpcError('NOT_FOUND', `${root} is not a repository that Perch cloned.`);
    return this.#queue.runExclusive(root, async () => {
      const { url } = await this.#readCopy(root);
      const task = { ...options, address: parseRepositoryUrl(url, options.allow) };
      const before = await this.#readCommit(root, task);
      const { commit } = await this.#update(root, task);
      return { root, commit, changed: commit !== before };
    });
  }

  /** Whether a path is the top folder of a copy. */
  includes(root: string): boolean {
    return dirname(root) === this.folder && !basename(root).startsWith('.');
  }

  async remove(root: string): Promise<void> {
    if (this.includes(root)) await this.#queue.runExclusive(root, () => rm(root, { recursive: true, force: true }));
  }

  async #update(root: string, task: GitTask): Promise<Checkout> {
    const { ref } = await this.#readCopy(root);
    await this.#fetch(root, ref, task);
    return { root, commit: await this.#readCommit(root, task) };
  }

  async #fetch(root: string, ref: string | undefined, task: GitTask): Promise<void> {
    const fetch = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', task.address.url, ref ?? 'HEAD'];
    await this.#git(fetch, root, task);
    await this.#git(['reset', '--quiet', '--hard', 'FETCH_HEAD'], root, task);
    await this.#git(['clean', '--quiet', '-ffdx'], root, task);
  }

  async #readCommit(root: string, task: GitTask): Promise<string> {
    return (await this.#git(['rev-parse', 'HEAD'], root, task)).trim();
  }

  async #readCopy(root: string): Promise<z.infer<typeof copySchema>> {
    try {
      return copySchema.parse(JSON.parse(await readFile(join(root, '.git', 'perch.json'), 'utf8')));
    } catch (error) {
      throw new RpcError(
        'NOT_FOUND',
        `The copy of the repository in ${root} is missing or damaged. Remove it and add it again.`,
        {},
        { cause: error },
      );
    }
  }

  async #git(args: readonly string[], root: string, { address, allow, signal, onProgress }: GitTask): Promise<string> {
    const tooLarge = new AbortController();
    const isTransfer = args[0] === 'fetch' || args[0] === 'reset';
    let checking: Promise<void> | undefined;
    const checkSize = (): void => {
      checking ??= this.#checkSize(root, onProgress)
        .catch((error: unknown) => tooLarge.abort(error))
        .finally(() => (checking = undefined));
    };
    const sizeTimer = isTransfer ? setInterval(checkSize, SIZE_CHECK_MS) : undefined;
    const isFetch = args[0] === 'fetch';
    const hostAddress = isFetch ? await this.#resolveHost(address, allow) : '';
    // Checks all connections, those of redirects too.
    const proxy =
      isFetch && address.protocol !== 'ssh'
        ? await startGuardedProxy({ allowed: () => new HostAllowlist(allow), resolve: this.#resolve })
        : undefined;
    try {
      const env = {
        ...createCommandEnvironment(this.#env),
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: devNull,
        GIT_TERMINAL_PROMPT: '0',
        GIT_ASKPASS: 'false',
        SSH_ASKPASS: 'false',
        GIT_SSH_COMMAND: isFetch && address.protocol === 'ssh' ? createSshCommand(address.hostname, hostAddress) : 'false',
        GIT_ALLOW_PROTOCOL: address.protocol,
        GIT_LFS_SKIP_SMUDGE: '1',
        // Not those of a repository that the bridge itself may run in.
        GIT_CEILING_DIRECTORIES: dirname(root),
        LC_ALL: 'C',
      };
      const config = {
        'core.hooksPath': devNull,
        'core.symlinks': 'false',
        'core.fsmonitor': 'false',
        'core.protectNTFS': 'true',
        'core.protectHFS': 'true',
        'credential.helper': '',
        'protocol.allow': 'never',
        [`protocol.${address.protocol}.allow`]: 'always',
        'submodule.recurse': 'false',
        'transfer.fsckObjects': 'true',
        'gc.auto': '0',
        'maintenance.auto': 'false',
        'http.proxy': proxy?.url ?? '',
      };
      const settings = Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const { code, stdout, stderr } = await runManagedProgram(['git', ...settings, ...args], {
        keeper: this.#keeper,
        timeout: CLONE_TIMEOUT_MS,
        maxBuffer: MAX_OUTPUT_BYTES,
        cwd: root,
        env,
        signal: AbortSignal.any([signal, tooLarge.signal]),
      });
      if (code !== 0) throw describeGitFailure(address, stderr.toString());
      if (isTransfer) await this.#checkSize(root, onProgress);
      return stdout.toString();
    } catch (error) {
      signal.throwIfAborted();
      if (tooLarge.signal.aborted) throw tooLarge.signal.reason;
      if (getErrorCode(error) === 'ENOENT')
        throw new RpcError('INVALID_PARAMS', 'Cloning needs git on this computer. Install git and try again.');
      if (error instanceof ProgramLimitError)
        throw new RpcError('INTERNAL_ERROR', `${address.url} couldn’t be cloned within ${CLONE_TIMEOUT_MS / 60_000} minutes.`);
      throw error;
    } finally {
      clearInterval(sizeTimer);
      await proxy?.[Symbol.asyncDispose]();
    }
  }

  /** Throws `INVALID_PARAMS` if a copy is too large. */
  async #checkSize(root: string, onProgress: (bytes: number) => void): Promise<void> {
    const { bytes, files } = await measureFolder(root);
    onProgress(bytes);
    if (bytes > this.#maxBytes)
      throw new RpcError('INVALID_PARAMS', `The repository is larger than ${Math.round(this.#maxBytes / 1024 / 1024)} MB.`);
    if (files > MAX_FILES) throw new RpcError('INVALID_PARAMS', `The repository has more than ${MAX_FILES} files.`);
  }

  /** The first address of a host. Throws `INVALID_PARAMS` if one of its addresses must not be requested. */
  async #resolveHost({ host, hostname }: RepositoryAddress, allow: readonly string[]): Promise<string> {
    const reach = new HostAllowlist(allow).has(new URL(`https://${host}`)) ? 'local' : 'public';
    const addresses = await this.#resolve(hostname).catch(() => []);
    const [first] = addresses;
    if (!first) throw new RpcError('INVALID_PARAMS', `${host} was not found. Check the address and this computer’s internet connection.`);
    const refusal = addresses.map(({ address }) => checkAddress(address, reach)).find((reason) => reason !== undefined);
    if (refusal !== undefined)
      throw new RpcError(
        'INVALID_PARAMS',
        `${host} resolves to a blocked address: ${refusal}. To allow it, add it to the setting tools.webFetch.allow.`,
      );
    return first.address;
  }
}

/** Connects to a checked address, whatever the name resolves to later. Uses the user's keys, and asks for nothing. */
const createSshCommand = (hostname: string, address: string): string =>
  `ssh -F none -oBatchMode=yes -oHostName=${address} -oHostKeyAlias=${hostname} -oPermitLocalCommand=no -oClearAllForwardings=yes`;

/** Validates a repository's address. Throws `INVALID_PARAMS` with the reason. */
function parseRepositoryUrl(text: string, allow: readonly string[]): RepositoryAddress {
  const url = text.trim();
  const refuse = (reason: string): never => {
    throw new RpcError('INVALID_PARAMS', reason);
  };
  // The form that git itself calls scp-like.
  const [, user, scpHost, path] = /^([A-Za-z0-9_.-]+)@([A-Za-z0-9.-]+):(?!\/\/)([^\s:].*)$/.exec(url) ?? [];
  const parsed = URL.parse(scpHost === undefined ? url : `ssh://${user}@${scpHost}/${path}`);
  if (/[\s\0]/.test(url) || !parsed) return refuse('Enter the address of a git repository, such as https://example.com/project.git.');
  if (parsed.protocol === 'file:') return refuse('Add a repository on this computer as a folder instead of cloning it.');
  if (parsed.protocol === 'ssh:') {
    if (!/^[A-Za-z0-9.-]+$/.test(parsed.hostname) || parsed.hostname.startsWith('-') || parsed.password !== '')
      return refuse('This SSH address is not valid.');
    const blocked = checkHostName(parsed.hostname);
    if (blocked !== undefined) return refuse(blocked);
    return { url: parsed.href, protocol: 'ssh', hostname: parsed.hostname, host: parsed.hostname };
  }
  if (parsed.username !== '' || parsed.password !== '')
    return refuse(
      'Remove the user name and password from the address. For a private repository, clone it yourself and add it as a folder.',
    );
  const web = parseWebUrl(parsed, new HostAllowlist(allow));
  return {
    url: web.href,
    protocol: web.protocol === 'http:' ? 'http' : 'https',
    hostname: web.hostname.replace(/^\[|\]$/g, ''),
    host: web.host,
  };
}

function describeGitFailure({ url }: RepositoryAddress, stderr: string): RpcError {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line = lines.find((each) => each.startsWith('fatal:')) ?? lines.find((each) => each !== '') ?? '';
  const reason = line.replace(/^(fatal|error):\s*/, '').slice(0, 300);
  if (/terminal prompts disabled|Authentication failed|Permission denied|could not read Username/i.test(stderr))
    return new RpcError('INVALID_PARAMS', `${url} needs a login. Clone it yourself and add it as a folder.`);
  if (/couldn't find remote ref|Remote branch .* not found/i.test(stderr))
    return new RpcError('INVALID_PARAMS', `${url} has no such branch or tag, or is empty.`);
  if (/not found|does not appear to be a git repository|returned error: 404/i.test(stderr))
    return new RpcError('INVALID_PARAMS', `There is no git repository at ${url}.`);
  if (/Host key verification failed/i.test(stderr))
    return new RpcError('INVALID_PARAMS', `The SSH server of ${url} is unknown. Connect to it once with ssh, then try again.`);
  if (/No space left on device/i.test(stderr))
    return new RpcError('INTERNAL_ERROR', 'The repository couldn’t be stored: the disk is full.');
  return new RpcError('INTERNAL_ERROR', `Couldn’t clone ${url}: ${reason || 'git failed'}`);
}

/** Size of the files in a folder, up to a number of files. */
async function measureFolder(folder: string): Promise<{ bytes: number; files: number }> {
  let [bytes, files] = [0, 0];
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined && files <= MAX_FILES; next = pending.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      files++;
      const path = join(next, entry.name);
      if (entry.isDirectory()) pending.push(path);
      else bytes += (await lstat(path).catch(() => undefined))?.size ?? 0;
    }
  }
  return { bytes, files };
}
