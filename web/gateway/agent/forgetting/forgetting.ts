import { backupPort } from '#shared/ports/backup-port.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { Clock } from '#shared/async/clock.ts';
import { type ForgetKind, type ForgetReason, type ForgetReport, MAX_FORGET_PIECES } from '#shared/rpc/methods/forgetting-contracts.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { FORGOTTEN_TEXT } from '#shared/forgotten-text.ts';
import { computeContentHash } from '../../knowledge/dreaming/signal.ts';
import { computeContentId } from '../../knowledge/memory/content-id.ts';
import { parseEntries, toMemoryId } from '../../knowledge/memory/index/index-entry.ts';
import { LONG_TERM_FILE, parseNotesDate } from '../../knowledge/memory/layout.ts';
import { getSummary } from '../../knowledge/memory/summary/day-summary.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { StoredRecord } from '../../storage/forget-store.ts';
import type { ForgettingRecord } from '../../storage/records/provenance-record.ts';
import { createSessionChangedEvent } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { Lazy, Loadable } from '../../system/modules.ts';
import type { AgentMemories } from '../knowledge/memory/agent-memories.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import type { Provenance } from '../knowledge/provenance/provenance.ts';
import type { ReplyRecall } from '../knowledge/recall/reply-recall.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { createVaultWorkspace } from '../workspace/vault-workspace.ts';
import { eraseInFile } from './erase-in-file.ts';
import { eraseInRecord, RECORD_STORES, STORES_IN_USE } from './erase-in-record.ts';
import { containsText } from './erase-values.ts';
import { createQueryMatcher, createTextMatcher, type ForgetMatcher, matchesText } from './forget-matcher.ts';
import { type EraseDecision, type ForgetPiece, toPieceId } from './forget-pieces.ts';

export interface ForgettingDeps {
  vault: Pick<Vault, 'collection' | 'files' | 'forgetting' | 'sessions' | 'search'>;
  bridge: Bridge;
  clock: Pick<Clock, 'now'>;
  hub: Pick<EventBus, 'emit'>;
  labels: ContentLabels;
  memories: Lazy<AgentMemories>;
  longTermMemories: Lazy<LongTermMemories>;
  provenance: Lazy<Provenance>;
  replyRecall: Loadable<Pick<ReplyRecall, 'forget'>>;
  log: LogWriter;
}

/** Target of forgetting: a memory of a workspace, or everything with some words. */
interface ForgetTarget {
  workspace: string;
  memoryId?: string | undefined;
  query?: string | undefined;
}

type Remaining = ForgetReport['remaining'];

/** The result of a search. */
interface ForgetScan {
  matcher: ForgetMatcher;
  pieces: ForgetPiece[];
  remaining: Remaining;
}

/** Deletes what is stored about a subject, wherever it is, and reports what remains. */
export class Forgetting {
  readonly #deps: ForgettingDeps;
  readonly #mutex = new Mutex();

  constructor(deps: ForgettingDeps) {
    this.#deps = deps;
  }

  /** Throws `NOT_FOUND` for an unknown memory, and `INVALID_PARAMS` if too many pieces match. */
  async preview(target: ForgetTarget): Promise<Pick<ForgetScan, 'pieces' | 'remaining'>> {
    const { pieces, remaining } = await this.#scan(target);
    return { pieces, remaining };
  }

  /** Deletes pieces by their ids. */
  apply(target: ForgetTarget, pieceIds: readonly string[]): Promise<ForgetReport> {
    return this.#mutex.run(async () => {
      const { vault, clock } = this.#deps;
      const chosen = new Set(pieceIds);
      const { matcher, pieces, remaining } = await this.#scan(target);
      const erased = pieces.filter(({ id }) => chosen.has(id));
      const kept = pieces.filter(({ id }) => !chosen.has(id));
      const record: ForgettingRecord = {
        id: crypto.randomUUID(),
        at: clock.now(),
        workspace: target.workspace,
        isComplete: false,
        removed: {},
        remaining: [],
        messages: [...new Set(kept.flatMap(({ kind, store, key }) => (kind === 'message' && store === 'messages' ? key : [])))],
        texts: await this.#listTextHashes(matcher, [...erased, ...kept.filter(({ kind }) => kind === 'message')]),
      };
      // Before anything is deleted: from now on nothing is derived from these messages any more.
      await vault.collection('forgettings').put(record);
      await this.#eraseAll(matcher, erased);
      const removed: Record<string, number> = {};
      for (const { kind } of erased) removed[kind] = (removed[kind] ?? 0) + 1;
      const remains = [...remaining, ...countKept(kept), ...countNames(erased), ...(await this.#countBackups())];
      const done: ForgettingRecord = { ...record, removed, remaining: remains, isComplete: true };
      await vault.collection('forgettings').put(done);
      await this.cleanReplica();
      return toReport(done);
    });
  }

  /** Newest first. */
  async listReports(): Promise<ForgetReport[]> {
    return (await this.#deps.vault.collection('forgettings').list()).sort((a, b) => b.at - a.at).map(toReport);
  }

  /** Deletes what this replica has derived from forgotten texts: indexes, snapshots and vectors. */
  async cleanReplica(): Promise<void> {
    const { vault, memories, replyRecall } = this.#deps;
    const store = await vault.forgetting();
    const done = await store.readForgotten();
    const pending = (await vault.collection('forgettings').list()).filter(({ id, isComplete }) => isComplete && !done.has(id));
    if (pending.length === 0) return;
    await vault.search.rebuild();
    await (await replyRecall.settled())?.forget();
    const texts = pending.flatMap((record) => record.texts);
    for (const workspace of new Set([...(await vault.files.workspaces()), ...pending.map((record) => record.workspace)]))
      await (await memories.load()).forget(workspace, texts);
    await store.addForgotten(pending.map(({ id }) => id));
  }

  async #scan(target: ForgetTarget): Promise<ForgetScan> {
    const matcher = await this.#createMatcher(target);
    const pieces = new Map<string, ForgetPiece>();
    const collect: EraseDecision = (piece) => {
      const id = toPieceId(piece);
      pieces.set(id, { id, ...piece });
      if (pieces.size > MAX_FORGET_PIECES)
        throw new RpcError('INVALID_PARAMS', `More than ${MAX_FORGET_PIECES} texts match. Use more specific words.`);
      return false;
    };
    for (const file of await this.#listFiles(target)) await this.#eraseFile(file, matcher, collect, target);
    const store = await this.#deps.vault.forgetting();
    const matches = (text: string): boolean => matchesText(matcher, text);
    for (const name of RECORD_STORES) await store.forEach(name, (record) => void eraseInRecord(record, { matches, erase: collect }));
    for (const session of await this.#deps.vault.sessions.list()) {
      const { key, title } = session;
      if (matches(title)) collect({ kind: 'message', store: 'sessions', key, place: `${key}.jsonl`, text: title, reason: 'chat' });
    }
    const remaining: Remaining = [];
    for (const name of STORES_IN_USE) {
      let count = 0;
      await store.forEach(name, ({ value }) => void (containsText(value, matches) && count++));
      if (count > 0) remaining.push({ kind: name, reason: 'use', count });
    }
    return { matcher, pieces: [...pieces.values()], remaining };
  }

  async #createMatcher({ workspace, memoryId, query }: ForgetTarget): Promise<ForgetMatcher> {
    if ((memoryId === undefined) === (query === undefined)) throw new RpcError('INVALID_PARAMS', 'Provide either `memoryId` or `query`.');
    if (query !== undefined) return createQueryMatcher(query);
    const found = (await (await this.#deps.longTermMemories.load()).listIn(workspace)).find(({ id }) => id === memoryId);
    if (!found) throw new RpcError('NOT_FOUND', `No memory with id "${memoryId}".`);
    return createTextMatcher(found.text);
  }

  /** Text files: those of all workspaces, or for a memory those of its own. */
  async #listFiles({ workspace, query }: ForgetTarget): Promise<FileRecord[]> {
    const { files } = this.#deps.vault;
    const found: FileRecord[] = [];
    for (const name of query === undefined ? [workspace] : await files.workspaces())
      for (const { path } of await files.list(name, '')) {
        const file = await files.get(name, path);
        if (file?.encoding === 'utf8') found.push(file);
      }
    return found;
  }

  /** The file's text without the chosen pieces; undefined if the file goes. */
  async #eraseFile(file: FileRecord, matcher: ForgetMatcher, erase: EraseDecision, target?: ForgetTarget): Promise<string | undefined> {
    const { workspace, path } = file;
    const matches = (text: string): boolean => matchesText(matcher, text);
    const edited = path === LONG_TERM_FILE && target?.query !== undefined ? await this.#listEdited(workspace) : new Set<string>();
    const getMemoryReason = (id: string): ForgetReason | undefined => (edited.has(id) ? 'edited' : undefined);
    return eraseInFile({ workspace, path, content: file.content }, { matches, erase, getMemoryReason });
  }

  /** Ids of memories that a person has edited. */
  async #listEdited(workspace: string): Promise<Set<string>> {
    const records = await (await this.#deps.provenance.load()).list(workspace, 'memory');
    const edited = records.filter(({ versions }) => versions.length > 1 && versions.at(-1)?.by === 'person');
    return new Set(edited.map(({ id }) => id.slice(`${workspace}/memory/`.length)));
  }

  async #eraseAll(matcher: ForgetMatcher, pieces: readonly ForgetPiece[]): Promise<void> {
    const { vault, hub } = this.#deps;
    const ids = new Set(pieces.map(({ id }) => id));
    const erase: EraseDecision = (piece) => ids.has(toPieceId(piece));
    const matches = (text: string): boolean => matchesText(matcher, text);
    const store = await vault.forgetting();
    const sessions = new Set<string>();
    for (const [name, found] of Map.groupBy(pieces, (piece) => piece.store))
      for (const key of new Set(found.map((piece) => piece.key))) {
        if (name === 'files') await this.#eraseStoredFile(key, matcher, erase);
        else if (name === 'sessions') await vault.sessions.update(key, { title: FORGOTTEN_TEXT });
        else {
          await store.change(name, key, (value) => {
            if (name === 'messages') sessions.add(String(value['sessionKey']));
            return eraseInRecord({ store: name, key, value } satisfies StoredRecord, { matches, erase });
          });
        }
        if (name === 'sessions') sessions.add(key);
      }
    await this.#removeOrigins(pieces);
    for (const key of sessions) hub.emit(createSessionChangedEvent(key), key);
    if (pieces.some(({ kind }) => kind === 'trash')) hub.emit({ event: 'trash.changed', payload: {} }, null);
  }

  async #eraseStoredFile(key: string, matcher: ForgetMatcher, erase: EraseDecision): Promise<void> {
    const { vault } = this.#deps;
    const [workspace = '', ...names] = key.split('/');
    const path = names.join('/');
    const file = await vault.files.get(workspace, path);
    if (!file) return;
    const text = await this.#eraseFile(file, matcher, erase);
    if (text === undefined) {
      await vault.files.remove(workspace, path);
      await this.#deps.labels.remove('file', key);
    } else if (text !== file.content) {
      await createVaultWorkspace(this.#deps, workspace).update(path, (current) => (current === file.content ? text : undefined));
      await this.#recordErased(workspace, path, text);
    }
  }

  /** The rest of a summary or report is a new version, by the person who forgot a part of it. */
  async #recordErased(workspace: string, path: string, text: string): Promise<void> {
    const date = parseNotesDate(path);
    const kind = date === undefined ? 'report' : 'day';
    const name = { workspace, kind, name: date ?? path } as const;
    const provenance = await this.#deps.provenance.load();
    if (await provenance.get(name)) await provenance.record(name, { text: kind === 'day' ? (getSummary(text) ?? '') : text, by: 'person' });
  }

  /** Removes the labels and origins of memories, and the origins of claims and dreams. */
  async #removeOrigins(pieces: readonly ForgetPiece[]): Promise<void> {
    const { labels } = this.#deps;
    const provenance = await this.#deps.provenance.load();
    for (const { kind, store, key, text } of pieces) {
      if (store !== 'files') continue;
      const [workspace = ''] = key.split('/', 1);
      if (kind === 'memory') {
        await labels.remove('memory', `${workspace}/${toMemoryId(text)}`);
        await provenance.remove({ workspace, kind, name: toMemoryId(text) });
      } else if (kind === 'claim') await provenance.remove({ workspace, kind, name: key.replace(/^.*\//, '').replace(/\.jsonl$/, '') });
      else if (kind === 'dream') await provenance.remove({ workspace, kind, name: await computeContentHash(text) });
    }
  }

  /** Hashes by which the vectors of texts are stored: those of the indexed passages that contain them. */
  async #listTextHashes(matcher: ForgetMatcher, pieces: readonly ForgetPiece[]): Promise<string[]> {
    const hashes = new Set<string>();
    for (const { store, key, text } of pieces) {
      if (store === 'messages') hashes.add(computeContentId(text));
      if (store !== 'files') continue;
      const [workspace = '', ...names] = key.split('/');
      const path = names.join('/');
      const file = await this.#deps.vault.files.get(workspace, path);
      if (file?.encoding !== 'utf8') continue;
      for (const entry of parseEntries(path, file.content, LONG_TERM_FILE).entries)
        if (matchesText(matcher, entry.text)) hashes.add(computeContentId(entry.text));
    }
    return [...hashes];
  }

  /** Backups that were made before. */
  async #countBackups(): Promise<Remaining> {
    const { bridge, log } = this.#deps;
    if (!bridge.provides(backupPort)) return [];
    try {
      const { backups } = await bridge.call(backupPort, 'backup.list', {});
      return backups.length > 0 ? [{ kind: 'backup', reason: 'backup', count: backups.length }] : [];
    } catch (error) {
      log.write('warn', 'memory', `Could not list the backups for a report: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }
}

/** Counts pieces by kind and reason. */
function countKept(pieces: readonly ForgetPiece[]): Remaining {
  const counts = new Map<string, Remaining[number]>();
  for (const { kind, reason = 'notChosen' } of pieces) {
    const counted = counts.get(`${kind} ${reason}`) ?? { kind: kind satisfies ForgetKind, reason, count: 0 };
    counts.set(`${kind} ${reason}`, { ...counted, count: counted.count + 1 });
  }
  return [...counts.values()];
}

/** Names of deleted files about the subject: a deletion names its file, so that other devices delete it too. */
function countNames(erased: readonly ForgetPiece[]): Remaining {
  const count = erased.filter(({ store, text, place }) => store === 'files' && text === place).length;
  return count > 0 ? [{ kind: 'name', reason: 'sync', count }] : [];
}

function toReport({ id, at, workspace, removed, remaining, messages }: ForgettingRecord): ForgetReport {
  return { id, at, workspace, removed, remaining: remaining as Remaining, excludedMessages: messages.length };
}
