import { join } from 'node:path';
import type { Opening } from '#shared/link/hello.ts';
import { FORWARD_PORT, WITHDRAW_PORT } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import { accessPort } from '#shared/ports/access.ts';
import { linkedBrowsersPort } from '#shared/ports/linked-browsers.ts';
import { BLOBS_PORT, JOURNAL_PORT } from '#shared/ports/journal.ts';
import { desktopPort } from '#shared/ports/desktop.ts';
import { browserPort } from '#shared/ports/browser.ts';
import { backupPort } from '#shared/ports/backup.ts';
import { configFilePort } from '#shared/ports/config-file.ts';
import { filesPort } from '#shared/ports/files.ts';
import { execPort } from '#shared/ports/exec.ts';
import { mcpPort } from '#shared/ports/mcp.ts';
import { ggufPort } from '#shared/ports/gguf.ts';
import { oauthPort } from '#shared/ports/oauth.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads.ts';
import type { Port } from '#shared/ports/port.ts';
import { secretsPort } from '#shared/ports/secrets.ts';
import { skillsPort } from '#shared/ports/skills.ts';
import { speechPort } from '#shared/ports/speech.ts';
import { webPort } from '#shared/ports/web.ts';
import type { EventSchemas } from '#shared/link/calls.ts';
import type { Contracts } from '#shared/rpc/contract.ts';
import { logsPort, systemPort } from '#shared/ports/system.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import { browsersApart } from '../capabilities/browser/apart.ts';
import { backupHandlers } from '../capabilities/backup.ts';
import { configFileHandlers } from '../capabilities/config-file.ts';
import { filesHandlers } from '../capabilities/files/files.ts';
import { secretsHandlers } from '../capabilities/secrets/secrets.ts';
import { skillsHandlers } from '../capabilities/skills.ts';
import { speechHandlers } from '../capabilities/speech/speech.ts';
import { systemEngines } from '../capabilities/speech/system.ts';
import { serveEgress, serveForward } from '../capabilities/egress.ts';
import { webHandlers } from '../capabilities/web.ts';
import { desktopHandlers } from '../capabilities/desktop/desktop.ts';
import { execHandlers } from '../capabilities/exec/exec.ts';
import { mcpHandlers } from '../capabilities/mcp/mcp.ts';
import { oauthHandlers } from '../capabilities/oauth.ts';
import { modelsOfDisk } from '../capabilities/models/models-of-disk.ts';
import { Keeper } from '../processes/keep.ts';
import type { Journal } from '../journal/journal.ts';
import { type Access, accessHandlers } from './access.ts';
import { type LinkedBrowsersDeps, linkedBrowsersHandlers } from './linked-browsers.ts';
import { type SystemDeps, systemHandlers } from '../capabilities/system/system-port.ts';
import { LogFile } from '../log-file.ts';
import type { LogRing } from '../log-ring.ts';
import { serveBlobs } from './blobs-port.ts';
import type { Exchanges } from './exchange.ts';
import type { Standing } from './standing.ts';
import type { Host, Hosts } from './hosts.ts';
import { JournalPort, type JournalPortDeps } from './journal-port.ts';
import { Presence } from './presence.ts';
import { type PortHandlers, servePort } from './serve-port.ts';

export interface PortsDeps {
  journal: Journal;
  vaultKey: string;
  /** See `JournalPortDeps`. */
  browserWay?: JournalPortDeps['browserWay'] | undefined;
  access: Access;
  linked: Omit<LinkedBrowsersDeps, 'log'>;
  hosts: Hosts;
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
  exchanges: Exchanges;
  standing: Standing;
  /** Lines that `log` has written. */
  ring: LogRing;
  log(line: string): void;
}

/** Capabilities that the bridge offers its hosts. */
export interface Ports {
  /** Names of the ports, for the bridge's hello. */
  readonly names: string[];
  /** Serves a stream that a host opened. */
  serve(stream: Stream, opening: Opening, host: Host): void;
  close(): Promise<void>;
}

export function lendPorts({
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
  standing,
  ring,
  log,
}: PortsDeps): Ports {
  const journalPort = new JournalPort({ journal, hosts, presence: new Presence(hosts, presenceMs), vaultKey, browserWay, log });
  const capability = <C extends Contracts, E extends EventSchemas>(
    port: Port<C, E>,
    handlers: PortHandlers<C, E>,
  ): [string, Ports['serve']] => [port.kind, (stream) => servePort(stream, port, handlers, log)];
  const keeper = new Keeper(log);
  try {
    ring.writeTo(new LogFile(join(home, 'logs', 'perch.log')));
  } catch (error) {
    log(`Warning: Couldn’t write the log file: ${error instanceof Error ? error.message : String(error)}`);
  }
  const models = modelsOfDisk({ home, keeper, log });
  void models.downloads.resume();
  const browsers = browsersApart({ dir: join(home, 'profiles', 'browser'), log, keeper });
  const ports = new Map<string, Ports['serve']>([
    ['egress', (stream, opening) => serveEgress(stream, opening, via)],
    [
      FORWARD_PORT,
      (stream, opening, { mux }) =>
        serveForward(stream, opening, via, {
          find: (id) => exchanges.find(mux, id),
          isAttached: () => hosts.has(mux),
          standing: (wish, headers) => standing.given(mux, wish, headers),
        }),
    ],
    [
      WITHDRAW_PORT,
      (stream, _opening, { mux }) => {
        standing.withdraw(mux);
        stream.end();
      },
    ],
    [JOURNAL_PORT, (stream, _opening, host) => journalPort.serve(stream, host)],
    [
      accessPort.kind,
      (stream, _opening, host) =>
        servePort(
          stream,
          accessPort,
          accessHandlers(access, () => hosts.holder === host),
          log,
        ),
    ],
    [BLOBS_PORT, (stream, opening) => serveBlobs(stream, opening, { journal, log })],
    capability(linkedBrowsersPort, linkedBrowsersHandlers({ ...linked, log })),
    capability(configFilePort, configFileHandlers(home)),
    capability(filesPort, filesHandlers({ home })),
    capability(speechPort, speechHandlers({ engines: systemEngines(keeper) })),
    capability(secretsPort, secretsHandlers({ home, fileOnly: name !== '', hide: (values) => ring.hide(values), log, keeper })),
    capability(skillsPort, skillsHandlers({ dir: join(home, 'skills') })),
    capability(webPort, webHandlers()),
    capability(browserPort, browsers.handlers),
    capability(backupPort, backupHandlers({ journal, vaultKey, home })),
    capability(systemPort, systemHandlers({ ...system, keeper })),
    capability(logsPort, { 'logs.read': async (params) => ring.read(params) }),
    capability(desktopPort, desktopHandlers({ keeper })),
    capability(execPort, execHandlers({ home, keeper })),
    capability(mcpPort, mcpHandlers({ home, keeper })),
    capability(ggufPort, models.running),
    capability(modelDownloadsPort, models.downloads.handlers),
    capability(oauthPort, oauthHandlers(callbackUrl)),
  ]);
  return {
    names: [...ports.keys()],
    serve(stream, opening, host) {
      const serve = ports.get(opening.kind);
      if (serve) serve(stream, opening, host);
      else stream.reset(CLOSE.policy, `this bridge doesn’t support "${opening.kind}"`);
    },
    async close() {
      journalPort.close();
      await Promise.all([browsers.close(), models.close()]);
    },
  };
}
