import { dirname, join } from 'node:path';
import type { Opening } from '#shared/link/hello.ts';
import { FORWARD_KIND, WITHDRAW_KIND } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import { accessPort } from '#shared/ports/access-port.ts';
import { linkedBrowsersPort } from '#shared/ports/linked-browsers-port.ts';
import { BLOBS_KIND, JOURNAL_KIND } from '#shared/ports/journal-streams.ts';
import { desktopPort } from '#shared/ports/desktop-port.ts';
import { browserPort } from '#shared/ports/browser-port.ts';
import { backupPort } from '#shared/ports/backup-port.ts';
import { configFilePort } from '#shared/ports/config-file-port.ts';
import { filesPort } from '#shared/ports/files-port.ts';
import { foldersPort } from '#shared/ports/folders-port.ts';
import { execPort } from '#shared/ports/exec-port.ts';
import { mcpPort } from '#shared/ports/mcp-port.ts';
import { ggufPort } from '#shared/ports/gguf-port.ts';
import { ircPort } from '#shared/ports/irc-port.ts';
import { mailPort } from '#shared/ports/mail-port.ts';
import { pushPort } from '#shared/ports/push-port.ts';
import { oauthPort } from '#shared/ports/oauth-port.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads-port.ts';
import type { Port } from '#shared/ports/port.ts';
import { secretsPort } from '#shared/ports/secrets-port.ts';
import { skillsPort } from '#shared/ports/skills-port.ts';
import { speechPort } from '#shared/ports/speech-port.ts';
import { webPort } from '#shared/ports/web-port.ts';
import type { EventSchemas } from '#shared/link/port-calls.ts';
import type { Contracts } from '#shared/rpc/contract.ts';
import { logsPort, systemPort } from '#shared/ports/system-port.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { createDriverProcess } from '../capabilities/browser/driver-process.ts';
import { createBackupHandlers } from '../capabilities/backup-handlers.ts';
import { createConfigFileHandlers } from '../capabilities/config-file-handlers.ts';
import { createWorkspaceHandlers } from '../capabilities/files/workspace-handlers.ts';
import { createFoldersHandlers } from '../capabilities/folders/folders-handlers.ts';
import { createSecretsHandlers } from '../capabilities/secrets/secrets-handlers.ts';
import { createSkillsHandlers } from '../capabilities/skills-handlers.ts';
import { createSpeechHandlers } from '../capabilities/speech/speech-handlers.ts';
import { createSystemEngines } from '../capabilities/speech/system-engines.ts';
import { serveEgress, serveForward } from '../passthrough/egress.ts';
import { createWebHandlers } from '../capabilities/web-handlers.ts';
import { createDesktopHandlers } from '../capabilities/desktop/desktop-handlers.ts';
import { createExecHandlers } from '../capabilities/exec/exec-handlers.ts';
import { createMcpHandlers } from '../capabilities/mcp/mcp-handlers.ts';
import { createIrcCapability } from '../capabilities/irc/irc-handlers.ts';
import { createMailCapability } from '../capabilities/mail/mail-handlers.ts';
import { createPushHandlers } from '../capabilities/push-handlers.ts';
import { createOauthHandlers } from '../capabilities/oauth-handlers.ts';
import { createDiskModels } from '../capabilities/models/disk-models.ts';
import { ProcessKeeper } from '../processes/process-keeper.ts';
import { type Journal, JournalError, JournalFullError } from '../journal/journal.ts';
import { type AccessGrants, createAccessHandlers } from './access-grants.ts';
import { type LinkedBrowsersDeps, createLinkedBrowsersHandlers } from './linked-browsers.ts';
import { type SystemDeps, createSystemHandlers } from '../capabilities/system/system-handlers.ts';
import { LogFile } from '../log-file.ts';
import type { LogRing } from '../log-ring.ts';
import type { ExchangeRegistry } from '../passthrough/http-exchange.ts';
import type { RouteCache } from '../passthrough/route-cache.ts';
import type { Host, HostRegistry } from './hosts.ts';
import { JournalPort, type JournalPortDeps } from './journal-port.ts';
import { HostPresence } from './host-presence.ts';
import { type PortHandlers, servePort } from '../capabilities/serve-port.ts';
import { createHash } from 'node:crypto';
import { serveHttp } from '#shared/link/stream-http.ts';
import { blobHash } from '#shared/sync/record.ts';
import { createErrorBody } from './http-errors.ts';

/** Maximum size of an attachment. */
const MAX_BLOB_BYTES = 20 * 1024 * 1024;

const createFailure = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  Response.json(createErrorBody(status, message), { status, headers });

interface HostPortsDeps {
  journal: Journal;
  vaultKey: string;
  /** See `JournalPortDeps`. */
  browserWay?: JournalPortDeps['browserWay'] | undefined;
  access: AccessGrants;
  linked: Omit<LinkedBrowsersDeps, 'log'>;
  hosts: HostRegistry;
  presenceMs: number;
  /** Name of the vault, empty for the home's own, and its folder. */
  name: string;
  home: string;
  /** Redirect URL for OAuth services. */
  callbackUrl: string;
  /** This gateway's id in its outgoing requests (capabilities/egress.ts). */
  via: string;
  /** Facts about the bridge and its folders. */
  system: Omit<SystemDeps, 'keeper'>;
  /** Exchanges that can be answered past the host. */
  exchanges: ExchangeRegistry;
  routeCache: RouteCache;
  /** Lines that `log` has written. */
  ring: LogRing;
  log(line: string): void;
}

/** Capabilities that the bridge offers its hosts. */
interface HostPorts {
  /** Names of the ports, for the bridge's hello. */
  readonly names: string[];
  /** Serves a stream that a host opened. */
  serve(stream: Stream, opening: Opening, host: Host): void;
  close(): Promise<void>;
}

export function createHostPorts({
  journal,
  vaultKey,
  browserWay = async () => null,
  access,
  linked,
  hosts,
  presenceMs,
  name,
  home,
  callbackUrl,
  via,
  system,
  exchanges,
  routeCache,
  ring,
  log,
}: HostPortsDeps): HostPorts {
  const journalPort = new JournalPort({ journal, hosts, presence: new HostPresence(hosts, presenceMs), vaultKey, browserWay, log });
  const capability = <C extends Contracts, E extends EventSchemas>(
    port: Port<C, E>,
    handlers: PortHandlers<C, E>,
  ): [string, HostPorts['serve']] => [port.kind, (stream) => servePort(stream, port, handlers, log)];
  const keeper = new ProcessKeeper(log);
  try {
    ring.writeTo(new LogFile(join(home, 'logs', 'perch.log')));
  } catch (error) {
    log(`Warning: Couldn’t write the log file: ${error instanceof Error ? error.message : String(error)}`);
  }
  const models = createDiskModels({ home, keeper, log });
  void models.downloads.resume();
  const mail = createMailCapability({ log });
  const irc = createIrcCapability();
  const browsers = createDriverProcess({ dir: join(home, 'profiles', 'browser'), log, keeper });
  const ports = new Map<string, HostPorts['serve']>([
    ['egress', (stream, opening) => serveEgress(stream, opening, via)],
    [
      FORWARD_KIND,
      (stream, opening, { mux }) =>
        serveForward(stream, opening, via, {
          find: (id) => exchanges.find(mux, id),
          isAttached: () => hosts.has(mux),
          recordDecision: (request, headers) => routeCache.prepareRoute(mux, request, headers),
        }),
    ],
    [
      WITHDRAW_KIND,
      (stream, _opening, { mux }) => {
        routeCache.invalidate(mux);
        stream.end();
      },
    ],
    [JOURNAL_KIND, (stream, _opening, host) => journalPort.serve(stream, host)],
    [
      accessPort.kind,
      (stream, _opening, host) =>
        servePort(
          stream,
          accessPort,
          createAccessHandlers(access, () => hosts.holder === host),
          log,
        ),
    ],
    [BLOBS_KIND, (stream, opening) => serveBlobs(stream, opening, { journal, log })],
    capability(linkedBrowsersPort, createLinkedBrowsersHandlers({ ...linked, log })),
    capability(configFilePort, createConfigFileHandlers(home)),
    capability(filesPort, createWorkspaceHandlers({ home })),
    capability(foldersPort, createFoldersHandlers({ home, keeper, ownFolder: name === '' ? home : dirname(dirname(home)) })),
    capability(speechPort, createSpeechHandlers({ engines: createSystemEngines(keeper) })),
    capability(secretsPort, createSecretsHandlers({ home, fileOnly: name !== '', hide: (values) => ring.hide(values), log, keeper })),
    capability(skillsPort, createSkillsHandlers({ dir: join(home, 'skills') })),
    capability(webPort, createWebHandlers()),
    capability(browserPort, browsers.handlers),
    capability(backupPort, createBackupHandlers({ journal, vaultKey, home })),
    capability(systemPort, createSystemHandlers({ ...system, keeper })),
    capability(logsPort, { 'logs.read': async (params) => ring.read(params) }),
    capability(desktopPort, createDesktopHandlers({ keeper })),
    capability(execPort, createExecHandlers({ home, keeper })),
    capability(mcpPort, createMcpHandlers({ home, keeper })),
    capability(ggufPort, models.running),
    capability(modelDownloadsPort, models.downloads.handlers),
    capability(pushPort, createPushHandlers()),
    capability(mailPort, mail.handlers),
    capability(ircPort, irc.handlers),
    capability(oauthPort, createOauthHandlers(callbackUrl)),
  ]);
  return {
    names: [...ports.keys()],
    serve(stream, opening, host) {
      const serve = ports.get(opening.kind);
      if (serve) serve(stream, opening, host);
      else stream.reset(CLOSE_CODES.policy, `this bridge doesn’t support "${opening.kind}"`);
    },
    async close() {
      journalPort.close();
      mail.close();
      irc.close();
      await Promise.all([browsers.close(), models.close()]);
    },
  };
}

/** Serves attachments by the SHA-256 of their bytes: `PUT` and `GET` of `/<hash>` (shared/ports/journal-port.ts). */
function serveBlobs(stream: Stream, opening: Opening, { journal, log }: { journal: Journal; log(line: string): void }): void {
  serveHttp(stream, opening, 'http://journal.invalid', async (request) => {
    try {
      return await handleRequest(request, journal);
    } catch (error) {
      if (error instanceof JournalFullError) return createFailure(507, `No disk space for the attachment: ${error.message}`);
      if (!request.signal.aborted) log(`Couldn’t store or read an attachment: ${error instanceof Error ? error.message : String(error)}`);
      return createFailure(500, error instanceof JournalError ? error.message : 'Couldn’t store or read the attachment');
    }
  });
}

async function handleRequest(request: Request, journal: Journal): Promise<Response> {
  const hash = new URL(request.url).pathname.slice(1);
  if (!blobHash.safeParse(hash).success) return createFailure(404, 'Attachments are identified by their SHA-256 in hex');
  if (request.method === 'GET') {
    const bytes = await journal.getBlob(hash);
    if (!bytes) return createFailure(404, 'No such attachment');
    return new Response(new Uint8Array(bytes), { headers: { 'content-type': 'application/octet-stream' } });
  }
  if (request.method !== 'PUT') return createFailure(405, 'Only GET and PUT are supported', { allow: 'GET, PUT' });
  const bytes = await readBody(request);
  if (!bytes) return createFailure(413, `Attachments are limited to ${MAX_BLOB_BYTES / 1024 / 1024} MiB`);
  if (createHash('sha256').update(bytes).digest('hex') !== hash) return createFailure(400, 'The content doesn’t match the SHA-256');
  await journal.putBlob(hash, bytes);
  return new Response(null, { status: 204 });
}

/** Reads a request's body. Undefined if it is too large. */
async function readBody({ body }: Request): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > MAX_BLOB_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
