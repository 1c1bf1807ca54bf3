import { type Agents, getWorkspaceName } from '../../agents.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { EventBus } from '../../../system/event-bus.ts';
import { Throttle } from '#shared/async/throttle.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import { type ListedWorkspace, createListedWorkspace } from '../../workspace/listed-workspace.ts';
import { createSubWorkspace } from '../../workspace/sub-workspace.ts';
import { createVaultWorkspace } from '../../workspace/vault-workspace.ts';
import type { Lazy } from '../../../system/modules.ts';
import { toClaimText } from '../provenance/claim-text.ts';
import type { NewVersion, Provenance } from '../provenance/provenance.ts';
import type { Claim } from '../../../knowledge/wiki/claim.ts';
import type { ClaimsManager } from '../../../knowledge/wiki/claims-manager.ts';
import { isMarkdown } from '../../../knowledge/wiki/page-path.ts';
import { WikiSearch } from '../../../knowledge/wiki/wiki-search.ts';
import { CLAIMS_DIR, WikiVault } from '../../../knowledge/wiki/wiki-vault.ts';
import { WIKI_FOLDER } from './page-label.ts';

export interface WikisDeps {
  vault: Pick<Vault, 'files' | 'onRemoteChanges'>;
  hub: Pick<EventBus, 'emit'>;
  clock: Clock;
  agents: Agents;
  provenance: Lazy<Provenance>;
  fault(error: unknown): unknown;
}

/** Minimum interval in milliseconds between change events. */
const EMIT_INTERVAL_MS = 100;
/** Maximum number of paths in a change event; beyond it clients reload everything. */
const MAX_EVENT_PATHS = 50;

/** The author of a change of a claim, and its source messages. */
export type ClaimOrigin = Pick<NewVersion, 'by' | 'messages'>;

/** The wiki of a workspace. */
export interface OpenWiki {
  workspace: string;
  vault: WikiVault;
  search: WikiSearch;
  /** Creates the folders and the first page if they are missing; call it after writing. */
  prepare(): Promise<void>;
  /** Changes a claim, updates its page and records the change's origin. */
  change(work: (claims: ClaimsManager) => Promise<Claim>, origin: ClaimOrigin): Promise<Claim>;
}

interface CachedWiki extends OpenWiki {
  files: ListedWorkspace;
}

/** The wikis of agents, one per workspace. They are opened on first use and follow changes by other writers. */
export class Wikis {
  readonly #deps: WikisDeps;
  readonly #open = new Map<string, CachedWiki>();
  readonly #throttle: Throttle<string>;
  readonly #cleanups: (() => void)[];

  constructor(deps: WikisDeps) {
    const { vault, clock } = deps;
    this.#deps = deps;
    this.#throttle = new Throttle(clock, EMIT_INTERVAL_MS, (keys) => this.#emitChanges(keys));
    this.#cleanups = [
      vault.files.watch(({ workspace, path }) => this.#handleChanges([`${workspace}/${path}`])),
      vault.onRemoteChanges((changes) => this.#handleChanges(changes.flatMap(({ store, key }) => (store === 'files' ? key : [])))),
      () => this.#throttle.stop(),
    ];
  }

  stop(): void {
    for (const stop of this.#cleanups) stop();
  }

  /** The wiki of an agent; nothing is read or created yet. Throws `NOT_FOUND` if the agent does not exist. */
  getWiki(agentId: string): OpenWiki {
    const { vault, clock, agents, provenance, fault } = this.#deps;
    const workspace = getWorkspaceName(agents.get(agentId));
    const known = this.#open.get(workspace);
    if (known) return known;
    const files = createListedWorkspace(createSubWorkspace(createVaultWorkspace({ vault, clock }, workspace), WIKI_FOLDER));
    const wiki = new WikiVault(files, {}, { now: () => clock.now() });
    const prepare = async (): Promise<void> => {
      if ((await files.stat('index.md')) === undefined) await wiki.initialize();
    };
    const change: OpenWiki['change'] = async (work, origin) => {
      const claim = await work(wiki.claims);
      const name = { workspace, kind: 'claim', name: claim.id } as const;
      await (await provenance.load()).record(name, { ...origin, text: toClaimText(claim) });
      // The claim is stored; if its page cannot be updated now, it is updated later.
      await wiki.showClaims(claim.pagePath).catch(fault);
      return claim;
    };
    const opened: CachedWiki = { workspace, vault: wiki, search: new WikiSearch(wiki), prepare, change, files };
    this.#open.set(workspace, opened);
    return opened;
  }

  #handleChanges(keys: readonly string[]): void {
    const ours = keys.filter((key) => key.split('/', 2)[1] === WIKI_FOLDER);
    for (const key of ours) {
      const [workspace = '', , ...rest] = key.split('/');
      const open = this.#open.get(workspace);
      open?.files.handleChange(rest.join('/'));
      open?.search.invalidate();
    }
    if (ours.length > 0) this.#throttle.add(ours);
  }

  #emitChanges(keys: readonly string[]): void {
    const { hub, agents } = this.#deps;
    for (const [workspace, own] of Map.groupBy(keys, (key) => key.split('/', 1)[0] ?? '')) {
      const paths = own.map((key) => key.slice(workspace.length + WIKI_FOLDER.length + 2));
      const pages = paths.filter(isMarkdown);
      const claims = paths.flatMap((path) =>
        path.startsWith(`${CLAIMS_DIR}/`) ? path.slice(CLAIMS_DIR.length + 1, -'.jsonl'.length) : [],
      );
      const agentIds = agents.list().flatMap((agent) => (getWorkspaceName(agent) === workspace ? agent.id : []));
      if (agentIds.length === 0 || pages.length + claims.length === 0) continue;
      const hasTooManyPaths = pages.length + claims.length > MAX_EVENT_PATHS;
      hub.emit(
        { event: 'wiki.changed', payload: { agentIds, pages: hasTooManyPaths ? null : pages, claims: hasTooManyPaths ? null : claims } },
        null,
      );
    }
  }
}
