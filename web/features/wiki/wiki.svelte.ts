import type { MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import type { WikiClaim, WikiPage, WikiPageEntry } from '#shared/rpc/methods/wiki-records.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { offerUndo } from '#app/state/offer-undo.ts';
import { toasts } from '#kit/toasts.svelte.ts';

export type WikiPageResult = MethodResult<'wiki.page'>;
export type WikiHealthReport = MethodResult<'wiki.health'>;
export type WikiGraph = MethodResult<'wiki.graph'>;
export type WikiHit = MethodResult<'wiki.search'>['results'][number];

type WikiChange = Omit<MethodParams<'wiki.savePage'>, 'agentId'>;

/** The wiki of one agent. */
class Wiki {
  agent = $state('main');
  /** All agents, for a choice between them. */
  agents = $state.raw<{ id: string; name: string }[]>([]);
  /** Null before the first answer. */
  pages = $state.raw<WikiPageEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  /** Incremented at each change: components reload what they show. */
  changeCount = $state(0);
  #started = false;

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gateway.on('wiki.changed', ({ agentIds }) => {
      if (agentIds.includes(this.agent)) void this.load();
    });
  }

  selectAgent(agent: string): void {
    if (agent === this.agent) return;
    this.agent = agent;
    this.pages = null;
  }

  async load(): Promise<void> {
    const { agent } = this;
    try {
      const [{ pages }, { agents }] = await Promise.all([gateway.call('wiki.pages', { agentId: agent }), gateway.call('agents.list', {})]);
      if (agent !== this.agent) return;
      this.pages = pages;
      this.agents = agents.map(({ id, config }) => ({ id, name: config.name ?? id }));
      this.problem = null;
      this.changeCount++;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.wiki_doing_read());
    }
  }

  /** Fetches a page; undefined if it does not exist. */
  async fetchPage(path: string, agentId = this.agent): Promise<WikiPageResult | undefined> {
    try {
      return await gateway.call('wiki.page', { agentId, path });
    } catch (error) {
      if (error instanceof RpcError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  search = async (query: string): Promise<WikiHit[]> =>
    (await gateway.call('wiki.search', { agentId: this.agent, query, limit: 30 })).results;
  fetchClaims = (filter: Omit<MethodParams<'wiki.claims'>, 'agentId'>) => gateway.call('wiki.claims', { agentId: this.agent, ...filter });
  fetchClaim = (id: string) => gateway.call('wiki.claim', { agentId: this.agent, id });
  fetchContradictions = () => gateway.call('wiki.contradictions', { agentId: this.agent });
  fetchHealth = (): Promise<WikiHealthReport> => gateway.call('wiki.health', { agentId: this.agent });
  fetchGraph = (): Promise<WikiGraph> => gateway.call('wiki.graph', { agentId: this.agent });

  /** Saves a page. This and the following methods reject if the gateway refuses. */
  async save(change: WikiChange): Promise<WikiPage> {
    const { page } = await gateway.call('wiki.savePage', { agentId: this.agent, ...change });
    announcer.announce(m.wiki_page_saved({ title: page.title }));
    await this.load();
    return page;
  }

  /** Removes a page and offers Undo. */
  async remove({ path, version, title }: WikiPage): Promise<void> {
    const { agent: agentId } = this;
    const { trashId } = await gateway.call('wiki.removePage', { agentId, path, version });
    offerUndo(m.wiki_page_deleted({ title }), [trashId], () => {
      announcer.announce(m.wiki_back());
      return this.load();
    });
    await this.load();
  }

  async removeClaim({ id }: WikiClaim): Promise<void> {
    const { agent: agentId } = this;
    await gateway.call('wiki.deleteClaim', { agentId, id });
    this.#offerUndo(m.wiki_claim_deleted(), async () => void (await gateway.call('wiki.restoreClaim', { agentId, id })));
    await this.load();
  }

  /** Calls a method that changes claims, and announces a text. */
  async change<M extends 'wiki.addClaim' | 'wiki.updateClaim' | 'wiki.supersedeClaim' | 'wiki.refuteClaim' | 'wiki.keepClaims'>(
    method: M,
    params: MethodParams<M>,
    announcement: string,
  ): Promise<void> {
    await gateway.call(method, { ...params, agentId: this.agent });
    announcer.announce(announcement);
    await this.load();
  }

  async exportWiki(): Promise<string> {
    return (await gateway.call('wiki.export', { agentId: this.agent })).content;
  }

  #offerUndo(text: string, undo: () => Promise<void>): void {
    const run = (): void => {
      undo()
        .then(() => {
          announcer.announce(m.wiki_back());
          return this.load();
        })
        .catch((error: unknown) => toasts.show(toProblem(error, m.wiki_doing_bring_back()).message, { sticky: true }));
    };
    toasts.show(text, { action: { label: m.kit_undo(), run }, sticky: true });
  }
}

export const wiki = new Wiki();
