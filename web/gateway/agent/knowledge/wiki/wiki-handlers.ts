import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ParsedParams, ContractResult } from '#shared/rpc/contract.ts';
import type { wikiContracts } from '#shared/rpc/methods/wiki-contracts.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import { toSource } from '../../trust/content-sources.ts';
import type { Caller } from '../../../system/caller.ts';
import { isPerson } from '../../../system/person.ts';
import type { Claim } from '../../../knowledge/wiki/claim.ts';
import { getLatest } from '../../../knowledge/wiki/claim-history.ts';
import { ClaimEvent } from '../../../knowledge/wiki/claim-lines.ts';
import { findContradictingPairs } from '../../../knowledge/wiki/contradiction/contradiction.ts';
import { buildGraph } from '../../../knowledge/wiki/wiki-graph.ts';
import { type Finding, MAX_PAIRS } from '../../../knowledge/wiki/wiki-health.ts';
import { LinkTargets } from '../../../knowledge/wiki/wiki-links.ts';
import { computeVersion, getLinks } from '../../../knowledge/wiki/wiki-page.ts';
import { toChangeView, toClaimView, toHeadView, toPageView, toPairView } from '../../../knowledge/wiki/wiki-views.ts';
import type { Lazy } from '../../../system/modules.ts';
import type { Trash } from '../../trash/trash.ts';
import { toPageLabel } from './page-label.ts';
import type { ClaimOrigin, Wikis } from './wikis.ts';

type MethodNames = keyof typeof wikiContracts extends `wiki.${infer Name}` ? Name : never;
type WikiHandlers = {
  [Name in MethodNames]: (
    params: ParsedParams<(typeof wikiContracts)[`wiki.${Name}`]>,
    caller: Pick<Caller, 'principal' | 'signal'>,
  ) => Promise<ContractResult<(typeof wikiContracts)[`wiki.${Name}`]>>;
};

const toOrigin = ({ principal }: Pick<Caller, 'principal'>): ClaimOrigin => ({ by: isPerson(principal) ? 'person' : 'program' });
const toClaimResult = (claim: Claim) => ({ claim: toClaimView(claim) });
const createNoPageError = (path: string): RpcError => new RpcError('NOT_FOUND', `No page with path "${path.slice(0, 200)}".`);
const toFindings = (findings: readonly Finding[]) =>
  findings.slice(0, MAX_PAIRS).map(({ claim, reason }) => ({ claim: toClaimView(claim), reason }));

/** Implementations of the methods `wiki.*`. */
export const createWikiHandlers = (
  wikis: Wikis,
  labels: Pick<ContentLabels, 'add' | 'remove' | 'getSources' | 'getLinkOrigins'>,
  trash: Lazy<Trash>,
): WikiHandlers => ({
  async pages({ agentId, under }) {
    const { vault } = wikis.getWiki(agentId);
    const pages = (await vault.listPages(under)).map((page) => ({ ...toHeadView(page), claims: page.claims.length }));
    const { files } = await vault.graph();
    const list = pages.map((page) => ({ ...page, modifiedAt: files.get(page.path)?.modifiedAt ?? 0 }));
    return { pages: list, count: list.length };
  },

  async page({ agentId, path }) {
    const { vault, workspace } = wikis.getWiki(agentId);
    const page = await vault.getPage(path);
    if (!page) throw createNoPageError(path);
    const { files, backlinks } = await vault.graph();
    const targets = new LinkTargets(
      [...files.values()].map(({ page: { path: pagePath, title, aliases = [] } }) => ({ path: pagePath, title, aliases })),
    );
    return {
      ...(await labels.getLinkOrigins('file', toPageLabel(workspace, page.path))),
      page: toPageView(page),
      claims: page.claims.map(toClaimView),
      links: getLinks(page).map(({ target, heading, line }) => ({
        ...{ target, line, path: targets.resolve(target, page.path) ?? null },
        ...(heading !== undefined && { heading }),
      })),
      backlinks: (backlinks.get(page.path) ?? []).map(({ path: from, title, links }) => ({
        ...{ path: from, title },
        lines: [...new Set(links.map(({ line }) => line))],
      })),
    };
  },

  async savePage({ agentId, path, content, version, title, kind, tags, aliases, frontMatter, outside = [] }) {
    const { vault, prepare, workspace } = wikis.getWiki(agentId);
    const page = { path, content, title, kind, tags, aliases, frontMatter };
    const name = toPageLabel(workspace, path);
    const isLabelled = (await labels.getSources('file', name)).length > 0;
    await labels.add('file', name, outside);
    const saved = await vault.savePage(page, { seen: version }).catch(async (error: unknown) => {
      // The page was not saved, so its label is reverted too.
      if (outside.length > 0 && !isLabelled) await labels.remove('file', name);
      throw error;
    });
    await prepare();
    return { page: toPageView(saved) };
  },

  async removePage({ agentId, path, version }) {
    const { vault, workspace } = wikis.getWiki(agentId);
    const page = await vault.getPage(path);
    if (!page) throw createNoPageError(path);
    const { title, content, frontMatter } = page;
    const label = toPageLabel(workspace, page.path);
    const outside = [...(await labels.getSources('file', label))];
    const fields = { title, path: page.path, content, outside, ...(frontMatter === undefined ? {} : { frontMatter }) };
    const item = { kind: 'page', agentId, ...fields } as const;
    const remove = async () => {
      await vault.removePage(path, { seen: version ?? computeVersion(page) });
      await labels.remove('file', label);
    };
    return { removed: true, page: toPageView(page), trashId: await (await trash.load()).store(item, remove) };
  },

  async search({ agentId, query, limit }) {
    const results = (await wikis.getWiki(agentId).search.search(query, limit)).map(({ claim, ...hit }) => ({
      ...hit,
      ...(claim && { claimId: claim.id, status: claim.status }),
    }));
    return { results, count: results.length };
  },

  async claims({ agentId, path, status, tag, below, limit, offset }) {
    const all = (await wikis.getWiki(agentId).vault.claims.listClaims(path)).filter(
      (claim) =>
        (status === undefined || claim.status === status) &&
        (tag === undefined || claim.tags.includes(tag)) &&
        (below === undefined || claim.confidence < below),
    );
    return { claims: all.slice(offset, offset + limit).map(toClaimView), count: all.length };
  },

  async claim({ agentId, id }) {
    const history = await wikis.getWiki(agentId).vault.claims.history(id);
    const { event, claim } = getLatest(history);
    return { ...toClaimResult(claim), deleted: event === ClaimEvent.DELETED, history: history.map(toChangeView) };
  },

  async addClaim({ agentId, path, text, evidence, tags, confidence }, caller) {
    const { change, prepare } = wikis.getWiki(agentId);
    const claim = await change((claims) => claims.addClaim(path, text, evidence, tags, confidence), toOrigin(caller));
    await prepare();
    return toClaimResult(claim);
  },

  updateClaim: async ({ agentId, id, confidence, tags, why }, caller) =>
    toClaimResult(await wikis.getWiki(agentId).change((claims) => claims.updateClaim(id, { confidence, tags }, why), toOrigin(caller))),

  supersedeClaim: async ({ agentId, id, text, rationale, evidence }, caller) =>
    toClaimResult(await wikis.getWiki(agentId).change((claims) => claims.supersedeClaim(id, text, rationale, evidence), toOrigin(caller))),

  refuteClaim: async ({ agentId, id, reason, evidence }, caller) =>
    toClaimResult(await wikis.getWiki(agentId).change((claims) => claims.refuteClaim(id, reason, evidence), toOrigin(caller))),

  keepClaims: async ({ agentId, ids: [id, other], why }, caller) =>
    toClaimResult(await wikis.getWiki(agentId).change((claims) => claims.keepBeside(id, other, why), toOrigin(caller))),

  async deleteClaim({ agentId, id, why }, caller) {
    await wikis.getWiki(agentId).change(async (claims) => {
      const claim = await claims.getClaim(id);
      await claims.deleteClaim(id, why);
      return claim;
    }, toOrigin(caller));
    return { deleted: true };
  },

  restoreClaim: async ({ agentId, id }, caller) =>
    toClaimResult(await wikis.getWiki(agentId).change((claims) => claims.restoreClaim(id), toOrigin(caller))),

  async contradictions({ agentId, id, limit }, { signal }) {
    const { claims } = wikis.getWiki(agentId).vault;
    const claim = id === undefined ? undefined : await claims.getClaim(id);
    const pairs = claim
      ? (await claims.findContradictions(claim, signal)).map(({ claim: other, ...why }) => toPairView({ claims: [claim, other], ...why }))
      : (await findContradictingPairs(await claims.listClaims(), { most: limit + 1, signal })).map(toPairView);
    const page = pairs.slice(0, limit);
    return { pairs: page, count: page.length, more: pairs.length > limit };
  },

  async health({ agentId }, { signal }) {
    const { stale, lowConfidence, orphaned, contradicted, unreadable } = await wikis.getWiki(agentId).vault.health(signal);
    return {
      ...{ stale: toFindings(stale), lowConfidence: toFindings(lowConfidence), orphaned: toFindings(orphaned) },
      contradicted: contradicted.map(toPairView),
      unreadable: unreadable.slice(0, MAX_PAIRS),
    };
  },

  async stats({ agentId }) {
    const { vault, workspace } = wikis.getWiki(agentId);
    return { ...(await vault.getStats()), workspace };
  },

  graph: async ({ agentId }, { signal }) => buildGraph(wikis.getWiki(agentId).vault, signal),

  async export({ agentId, deleted }) {
    const { text, claims } = await wikis.getWiki(agentId).vault.claims.exportLines({ deleted });
    return { content: text, claims };
  },

  async import({ agentId, content }) {
    const { vault, workspace } = wikis.getWiki(agentId);
    // The file may come from anybody.
    const report = await vault.claims.importLines('import.jsonl', content, (page) =>
      labels.add('file', toPageLabel(workspace, page), [toSource('import', 'claims')]),
    );
    await vault.initialize();
    return report;
  },
});
