import { RpcError } from '#shared/rpc/errors.ts';
import type { ParsedOf, ResultOf } from '#shared/rpc/contract.ts';
import type { wiki } from '#shared/rpc/methods/wiki.ts';
import type { ContentLabels } from '../trust/labels.ts';
import type { Claim } from './claim.ts';
import { latest } from './claim-history.ts';
import { ClaimEvent } from './claim-lines.ts';
import { contradictingPairs } from './contradiction/contradiction.ts';
import { graphOf } from './graph.ts';
import { type Finding, MOST_PAIRS } from './health.ts';
import { LinkTargets } from './links.ts';
import { linksOf } from './page.ts';
import { pagePath } from './page-path.ts';
import { shownChange, shownClaim, shownHead, shownPage, shownPair } from './shown.ts';
import { WIKI_FOLDER, type Wikis } from './wikis.ts';

type Names = keyof typeof wiki extends `wiki.${infer Name}` ? Name : never;
type Answers = {
  [Name in Names]: (
    params: ParsedOf<(typeof wiki)[`wiki.${Name}`]>,
    signal?: AbortSignal,
  ) => Promise<ResultOf<(typeof wiki)[`wiki.${Name}`]>>;
};

const never = new AbortController().signal;
const one = (claim: Claim) => ({ claim: shownClaim(claim) });
const noPage = (path: string): RpcError => new RpcError('NOT_FOUND', `No page with path "${path.slice(0, 200)}".`);
const found = (findings: readonly Finding[]) =>
  findings.slice(0, MOST_PAIRS).map(({ claim, reason }) => ({ claim: shownClaim(claim), reason }));

/** Implementations of the methods `wiki.*`. */
export const wikiAnswers = (wikis: Wikis, labels: Pick<ContentLabels, 'add' | 'remove' | 'getSources' | 'getLinkOrigins'>): Answers => ({
  async pages({ agentId, under }) {
    const { vault } = wikis.of(agentId);
    const pages = (await vault.listPages(under)).map((page) => ({ ...shownHead(page), claims: page.claims.length }));
    const { files } = await vault.graph();
    const list = pages.map((page) => ({ ...page, modifiedAt: files.get(page.path)?.modifiedAt ?? 0 }));
    return { pages: list, count: list.length };
  },

  async page({ agentId, path }) {
    const { vault, workspace } = wikis.of(agentId);
    const page = await vault.getPage(path);
    if (!page) throw noPage(path);
    const { files, backlinks } = await vault.graph();
    const targets = new LinkTargets(
      [...files.values()].map(({ page: { path: at, title, aliases = [] } }) => ({ path: at, title, aliases })),
    );
    return {
      ...(await labels.getLinkOrigins('file', `${workspace}/${WIKI_FOLDER}/${page.path}`)),
      page: shownPage(page),
      claims: page.claims.map(shownClaim),
      links: linksOf(page).map(({ target, heading, line }) => ({
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
    const { vault, prepare, workspace } = wikis.of(agentId);
    const page = { path, content, title, kind, tags, aliases, frontMatter };
    const name = `${workspace}/${WIKI_FOLDER}/${pagePath(path)}`;
    const isLabelled = (await labels.getSources('file', name)).length > 0;
    await labels.add('file', name, outside);
    const saved = await vault.savePage(page, { seen: version }).catch(async (error: unknown) => {
      // The page was not saved, so its label is reverted too.
      if (outside.length > 0 && !isLabelled) await labels.remove('file', name);
      throw error;
    });
    await prepare();
    return { page: shownPage(saved) };
  },

  async removePage({ agentId, path, version }) {
    const page = await wikis.of(agentId).vault.removePage(path, { seen: version });
    if (!page) throw noPage(path);
    return { removed: true, page: shownPage(page) };
  },

  async search({ agentId, query, limit }) {
    const results = (await wikis.of(agentId).search.search(query, limit)).map(({ claim, ...hit }) => ({
      ...hit,
      ...(claim && { claimId: claim.id, status: claim.status }),
    }));
    return { results, count: results.length };
  },

  async claims({ agentId, path, status, tag, below, limit, offset }) {
    const all = (await wikis.of(agentId).vault.claims.listClaims(path)).filter(
      (claim) =>
        (status === undefined || claim.status === status) &&
        (tag === undefined || claim.tags.includes(tag)) &&
        (below === undefined || claim.confidence < below),
    );
    return { claims: all.slice(offset, offset + limit).map(shownClaim), count: all.length };
  },

  async claim({ agentId, id }) {
    const history = await wikis.of(agentId).vault.claims.history(id);
    const { event, claim } = latest(history);
    return { ...one(claim), deleted: event === ClaimEvent.DELETED, history: history.map(shownChange) };
  },

  async addClaim({ agentId, path, text, evidence, tags, confidence }) {
    const { change, prepare } = wikis.of(agentId);
    const claim = await change((claims) => claims.addClaim(path, text, evidence, tags, confidence));
    await prepare();
    return one(claim);
  },

  updateClaim: async ({ agentId, id, confidence, tags, why }) =>
    one(await wikis.of(agentId).change((claims) => claims.updateClaim(id, { confidence, tags }, why))),

  supersedeClaim: async ({ agentId, id, text, rationale, evidence }) =>
    one(await wikis.of(agentId).change((claims) => claims.supersedeClaim(id, text, rationale, evidence))),

  refuteClaim: async ({ agentId, id, reason, evidence }) =>
    one(await wikis.of(agentId).change((claims) => claims.refuteClaim(id, reason, evidence))),

  keepClaims: async ({ agentId, ids: [id, other], why }) =>
    one(await wikis.of(agentId).change((claims) => claims.keepBeside(id, other, why))),

  async deleteClaim({ agentId, id, why }) {
    await wikis.of(agentId).change(async (claims) => {
      const claim = await claims.getClaim(id);
      await claims.deleteClaim(id, why);
      return claim;
    });
    return { deleted: true };
  },

  restoreClaim: async ({ agentId, id }) => one(await wikis.of(agentId).change((claims) => claims.restoreClaim(id))),

  async contradictions({ agentId, id, limit }, signal = never) {
    const { claims } = wikis.of(agentId).vault;
    const claim = id === undefined ? undefined : await claims.getClaim(id);
    const pairs = claim
      ? (await claims.findContradictions(claim, signal)).map(({ claim: other, ...why }) => shownPair({ claims: [claim, other], ...why }))
      : (await contradictingPairs(await claims.listClaims(), { most: limit + 1, signal })).map(shownPair);
    const shown = pairs.slice(0, limit);
    return { pairs: shown, count: shown.length, more: pairs.length > limit };
  },

  async health({ agentId }, signal = never) {
    const { stale, lowConfidence, orphaned, contradicted, unreadable } = await wikis.of(agentId).vault.health(signal);
    return {
      ...{ stale: found(stale), lowConfidence: found(lowConfidence), orphaned: found(orphaned) },
      contradicted: contradicted.map(shownPair),
      unreadable: unreadable.slice(0, MOST_PAIRS),
    };
  },

  async stats({ agentId }) {
    const { vault, workspace } = wikis.of(agentId);
    return { ...(await vault.getStats()), workspace };
  },

  graph: async ({ agentId }, signal = never) => graphOf(wikis.of(agentId).vault, signal),

  async export({ agentId, deleted }) {
    const { text, claims } = await wikis.of(agentId).vault.claims.exportLines({ deleted });
    return { content: text, claims };
  },

  async import({ agentId, content }) {
    const { vault } = wikis.of(agentId);
    const report = await vault.claims.importLines('import.jsonl', content);
    await vault.initialize();
    return report;
  },
});
