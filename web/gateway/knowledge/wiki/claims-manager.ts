import { RpcError } from '#shared/rpc/rpc-error.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { Workspace } from '../memory/workspace.ts';
import { Claim, claimChanges, ClaimStatus, Evidence, type EvidenceInput, parseFields } from './claim.ts';
import { type ClaimChange, ClaimEvent, type ClaimFile, formatChange, type LineProblem, parseClaimFile } from './claim-lines.ts';
import {
  requireActive,
  type ClaimHistories,
  getCurrentClaims,
  toEvidence,
  getLatest,
  requireSentence,
  toSuperseded,
  createNotFoundError,
} from './claim-history.ts';
import { compareHistories, formatExportLine, type ImportReport, toJsonlPath, parseExport } from './claims-transfer.ts';
import { type Contradiction, findContradictions } from './contradiction/contradiction.ts';
import { toFolderPath, toPagePath } from './page-path.ts';
import { FileCache } from './file-cache.ts';

export interface ClaimsOptions {
  /** Milliseconds since the Unix epoch. */
  now?: () => number;
  newId?: () => string;
  /** Access to files outside the workspace. If omitted, exports stay in the workspace. */
  disk?: ClaimsDisk;
}

/** Files outside the workspace. */
export interface ClaimsDisk {
  /** Absolute path of a file outside the workspace; undefined for a path inside it. */
  resolve(path: string): string | undefined;
  read(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<void>;
}

/** Changes that `updateClaim` accepts. */
interface ClaimChanges {
  confidence?: number | undefined;
  tags?: readonly string[] | undefined;
}

const FILE_SUFFIX = '.jsonl';

/** The claim's history has grown since it was read. */
class ClaimChangedError extends Error {}

const NEVER_ABORTED = new AbortController().signal;

/**
 * The claims of a wiki: one JSON Lines file per claim, to which every change appends a line. Each operation writes one file atomically, so
 * that a crash leaves either the old or the new state. Lines are never removed, not even by `deleteClaim`.
 */
export class ClaimsManager {
  readonly #workspace: Workspace;
  readonly #dir: string;
  readonly #files: FileCache<ClaimFile>;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #disk: ClaimsDisk | undefined;
  readonly #mutex = new Mutex();

  /** `claimsDir`: the folder in the workspace, `.perch-wiki/claims` in a vault. */
  constructor(workspace: Workspace, claimsDir: string, { now = Date.now, newId = () => crypto.randomUUID(), disk }: ClaimsOptions = {}) {
    this.#workspace = workspace;
    this.#dir = claimsDir.replace(/\/+$/, '');
    // Only the first folder may be hidden.
    toFolderPath(this.#dir.replace(/^\./, ''));
    this.#files = new FileCache(workspace, (text, { path }) => parseClaimFile(path, this.#toClaimId(path), text));
    this.#now = now;
    this.#newId = newId;
    this.#disk = disk;
  }

  /**
   * Adds an active claim to a page. `evidence`: `{sourceId, sourcePath, lines, weight, excerpt}`, in camelCase or snake_case; `confidence`:
   * 0 to 1, defaults to 0.8. Throws INVALID_PARAMS that names the member.
   */
  async addClaim(
    page: string,
    text: string,
    evidence: readonly EvidenceInput[] = [],
    tags: readonly string[] = [],
    confidence?: number,
  ): Promise<Claim> {
    return this.#change(async () => {
      const now = this.#now();
      const id = this.#newId();
      const claim = new Claim({
        id,
        pagePath: toPagePath(page),
        text,
        evidence: toEvidence(evidence),
        tags,
        confidence,
        createdAt: now,
        updatedAt: now,
      });
      return await this.#write([], { event: ClaimEvent.ADDED, at: now, claim });
    });
  }

  /** Throws NOT_FOUND if the claim does not exist or was deleted. */
  async getClaim(id: string): Promise<Claim> {
    return getLatest(await this.#historyOf(id)).claim;
  }

  /** All claims that were not deleted, oldest first; only those of a page, if one is given. */
  async listClaims(page?: string): Promise<Claim[]> {
    const onlyPath = page === undefined ? undefined : toPagePath(page);
    return getCurrentClaims(await this.read()).filter(({ pagePath }) => onlyPath === undefined || pagePath === onlyPath);
  }

  /** The history of a claim, oldest first, even if it was deleted. Throws NOT_FOUND. */
  async history(id: string): Promise<ClaimChange[]> {
    const changes = (await this.read()).histories.get(id);
    if (!changes) throw createNotFoundError(id);
    return [...changes];
  }

  /** Lines of the claims' files that cannot be parsed. They are neither removed nor used. */
  async problems(): Promise<LineProblem[]> {
    return [...(await this.read()).problems];
  }

  /**
   * Changes the confidence of a claim, its tags, or both: `updateClaim(id, 0.9, ['cats'])`, or `updateClaim(id, { tags: ['cats'] }, reason)`.
   * Use `supersedeClaim` to change its text. Throws NOT_FOUND, INVALID_PARAMS.
   */
  updateClaim(id: string, changes: ClaimChanges, reason?: string): Promise<Claim>;
  updateClaim(id: string, confidence?: number | null, tags?: readonly string[]): Promise<Claim>;
  async updateClaim(id: string, first?: ClaimChanges | number | null, second?: string | readonly string[]): Promise<Claim> {
    const byName = typeof first === 'object' && first !== null;
    const changes = byName ? first : { confidence: first ?? undefined, tags: second };
    const reason = byName && typeof second === 'string' ? second : undefined;
    return this.#change(async () => {
      const history = await this.#historyOf(id);
      const set = Object.fromEntries(
        Object.entries(parseFields(claimChanges, changes, 'The change')).filter(([, value]) => value !== undefined),
      );
      return await this.#next(history, ClaimEvent.UPDATED, set, reason);
    });
  }

  /** Active claims that contradict this one, each with the reason; most certain first. Throws NOT_FOUND for an unknown id. */
  async findContradictions(claim: Claim | string, signal: AbortSignal = NEVER_ABORTED): Promise<Contradiction[]> {
    const all = await this.read();
    const target = typeof claim === 'string' ? getLatest(await this.#historyOf(claim, { all })).claim : claim;
    return findContradictions(target, getCurrentClaims(all), signal);
  }

  /**
   * Replaces an active claim by a new one with the same page, tags and confidence, but its own `text` and `evidence`. The old one becomes
   * SUPERSEDED, with `rationale` as the reason. Returns the new one. Throws NOT_FOUND; INVALID_PARAMS if the old one is not active.
   */
  async supersedeClaim(oldId: string, text: string, rationale: string, evidence: readonly EvidenceInput[] = []): Promise<Claim> {
    return this.#change(async () => {
      const old = requireActive(getLatest(await this.#historyOf(oldId)).claim);
      const reason = requireSentence(rationale, 'The rationale');
      const now = this.#now();
      const { pagePath, tags, confidence } = old;
      const fields = {
        id: this.#newId(),
        pagePath,
        text,
        evidence: toEvidence(evidence),
        tags,
        confidence,
        createdAt: now,
        updatedAt: now,
      };
      // The first line of the new claim also implies the change of the old one, so that one write is enough.
      return await this.#write([], { event: ClaimEvent.ADDED, at: now, why: reason, claim: new Claim({ ...fields, supersedes: old.id }) });
    });
  }

  /** Refutes an active claim, with a reason and evidence. Throws NOT_FOUND; INVALID_PARAMS if it is not active. */
  async refuteClaim(id: string, reason: string, evidence: readonly EvidenceInput[] = []): Promise<Claim> {
    return this.#change(async () => {
      const history = await this.#historyOf(id);
      requireActive(getLatest(history).claim);
      const sentence = requireSentence(reason, 'The reason');
      const counterEvidence = evidence.map((each) => new Evidence(each));
      return await this.#next(history, ClaimEvent.REFUTED, { status: ClaimStatus.REFUTED, reason: sentence }, sentence, counterEvidence);
    });
  }

  /** Deletes a claim; its history stays. Throws NOT_FOUND. */
  async deleteClaim(id: string, reason?: string): Promise<void> {
    await this.#change(async () => this.#next(await this.#historyOf(id), ClaimEvent.DELETED, {}, reason));
  }

  /** Restores a deleted claim. Throws NOT_FOUND if it never existed; INVALID_PARAMS if it is not deleted. */
  async restoreClaim(id: string): Promise<Claim> {
    return this.#change(async () => {
      const history = await this.#historyOf(id, { deleted: true });
      if (getLatest(history).event !== ClaimEvent.DELETED) throw new RpcError('INVALID_PARAMS', `Claim ${id} has not been deleted.`);
      return await this.#next(history, ClaimEvent.RESTORED, {});
    });
  }

  /**
   * Keeps a claim although another one seems to contradict it, with a reason; the pair is no longer reported as a contradiction. Throws
   * NOT_FOUND, INVALID_PARAMS.
   */
  async keepBeside(id: string, other: string, reason: string): Promise<Claim> {
    return this.#change(async () => {
      const { claim: beside } = getLatest(await this.#historyOf(other));
      const history = await this.#historyOf(id);
      if (beside.id === id) throw new RpcError('INVALID_PARAMS', 'A claim can’t contradict itself.');
      const keptIds = [...new Set([...(getLatest(history).claim.beside ?? []), beside.id])];
      return await this.#next(history, ClaimEvent.KEPT, { beside: keptIds }, requireSentence(reason, 'The reason'));
    });
  }

  /** Histories of all claims, and lines that could not be parsed. */
  async read(): Promise<ClaimHistories> {
    const files = await this.#files.all(this.#dir, (path) => path.endsWith(FILE_SUFFIX));
    const histories = new Map<string, readonly ClaimChange[]>();
    for (const [path, { changes }] of files) if (changes.length > 0) histories.set(this.#toClaimId(path), changes);
    // Two claims may supersede the same one if two hosts wrote concurrently: the first counts.
    const successors = [...histories.values()].flatMap(([first]) => (first?.claim.supersedes === undefined ? [] : first));
    for (const { at, why, claim } of successors.sort((a, b) => a.at - b.at)) {
      const history = histories.get(claim.supersedes ?? '');
      const old = history?.at(-1);
      if (history && old?.claim.status === ClaimStatus.ACTIVE && old.event !== ClaimEvent.DELETED)
        histories.set(old.claim.id, [...history, toSuperseded(old.claim, claim.id, at, why)]);
    }
    return { histories, problems: [...files.values()].flatMap(({ problems }) => problems) };
  }

  /**
   * Exports all claims to a file: one line each, in snake_case, with the complete history. Deleted claims are only included on request. A
   * path in the workspace must end with `.jsonl`; in Node, an absolute path or one that begins with `./` or `../` is a file on disk.
   * Returns the path. Throws INVALID_PARAMS for any other path.
   */
  async exportToJsonl(path: string, { deleted = false }: { deleted?: boolean } = {}): Promise<{ path: string; claims: number }> {
    const onDisk = this.#disk?.resolve(path);
    const file = onDisk ?? toJsonlPath(path);
    const { text, claims } = await this.exportLines({ deleted });
    await (onDisk === undefined ? this.#workspace : this.#disk)?.write(file, text);
    return { path: file, claims };
  }

  /** Lines of an export; see `exportToJsonl`. */
  async exportLines({ deleted = false }: { deleted?: boolean } = {}): Promise<{ text: string; claims: number }> {
    const all = [...(await this.read()).histories.values()].filter((history) => deleted || getLatest(history).event !== ClaimEvent.DELETED);
    return { text: all.map(formatExportLine).join(''), claims: all.length };
  }

  /**
   * Imports an exported file, or a file of another program with the same members. Existing claims are never lost: a diverged history of the same
   * claim is a conflict. Throws NOT_FOUND.
   */
  async importFromJsonl(path: string): Promise<ImportReport> {
    const onDisk = this.#disk?.resolve(path);
    const file = onDisk ?? toJsonlPath(path);
    const text = await (onDisk === undefined ? this.#workspace : this.#disk)?.read(file);
    if (text === undefined) throw new RpcError('NOT_FOUND', `No file "${file}".`);
    return this.importLines(file, text);
  }

  /**
   * Like `importFromJsonl`, for lines that are not in a file of the workspace; `file` is the name used in reports. `beforeWrite` is called with
   * the page of each claim that is about to be written.
   */
  async importLines(file: string, text: string, beforeWrite?: (page: string) => Promise<void>): Promise<ImportReport> {
    return this.#change(async () => {
      const { histories, problems } = parseExport(file, text, this.#now(), this.#newId);
      const report: ImportReport = { added: [], updated: [], unchanged: 0, conflicts: [], problems };
      const localHistories = new Map((await this.read()).histories);
      for (const history of histories) {
        const { id } = getLatest(history).claim;
        const localHistory = localHistories.get(id) ?? [];
        const outcome = compareHistories(localHistory, history);
        if (outcome === 'same') report.unchanged++;
        else if (outcome === 'conflict') report.conflicts.push(id);
        else {
          await beforeWrite?.(getLatest(history).claim.pagePath);
          await this.#write(localHistory, ...history.slice(localHistory.length));
          localHistories.set(id, history);
          (outcome === 'new' ? report.added : report.updated).push(id);
        }
      }
      return report;
    });
  }

  async #historyOf(
    id: string,
    { all, deleted = false }: { all?: ClaimHistories; deleted?: boolean } = {},
  ): Promise<readonly ClaimChange[]> {
    const history = (all ?? (await this.read())).histories.get(id);
    if (!history || (!deleted && getLatest(history).event === ClaimEvent.DELETED)) throw createNotFoundError(id);
    return history;
  }

  #next(
    history: readonly ClaimChange[],
    event: ClaimEvent,
    set: Record<string, unknown>,
    reason?: string,
    counterEvidence: readonly Evidence[] = [],
  ): Promise<Claim> {
    const now = this.#now();
    const claim = new Claim({ ...getLatest(history).claim, ...set, updatedAt: now });
    return this.#write(history, {
      event,
      at: now,
      ...(reason !== undefined && { why: reason }),
      ...(counterEvidence.length > 0 && { against: counterEvidence }),
      claim,
    });
  }

  /** Appends lines to a claim's file, keeping its content, valid or not. */
  async #write(history: readonly ClaimChange[], ...added: readonly ClaimChange[]): Promise<Claim> {
    const { claim } = getLatest(added);
    const path = `${this.#dir}/${claim.id}${FILE_SUFFIX}`;
    const lines = history.map(formatChange);
    await this.#workspace.update(path, (before = '') => {
      if (history.length === 0 && before !== '') throw new RpcError('ALREADY_EXISTS', `A claim with id "${claim.id}" already exists.`);
      const storedLines = parseClaimFile(path, claim.id, before).changes.map(formatChange);
      if (storedLines.some((line, index) => line !== lines[index])) {
        this.#files.forget(path);
        throw new ClaimChangedError();
      }
      const newLines = [...lines.slice(storedLines.length), ...added.map(formatChange)].join('');
      return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${newLines}`;
    });
    this.#files.forget(path);
    return claim;
  }

  /** Repeats the operation if the claim was changed by another writer meanwhile. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      for (;;)
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof ClaimChangedError)) throw error;
        }
    });
  }

  #toClaimId(path: string): string {
    return path.slice(this.#dir.length + 1, -FILE_SUFFIX.length);
  }
}
