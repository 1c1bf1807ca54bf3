import type {
  ProvenanceChain,
  ProvenanceMessage,
  ProvenanceState,
  ProvenanceVersionView,
} from '#shared/rpc/methods/provenance-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { PROMOTIONS_FILE, PromotionLog } from '../../../knowledge/dreaming/promotion-log.ts';
import { toMemoryText } from '../../../knowledge/dreaming/promoter.ts';
import { REPORTS_FOLDER } from '../../../knowledge/dreaming/report-files.ts';
import { normalizeSpacing } from '../../../knowledge/memory/content-id.ts';
import { NOTES_FOLDER, parseNotesDate, toNotesPath } from '../../../knowledge/memory/layout.ts';
import { getSummary } from '../../../knowledge/memory/summary/day-summary.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';
import type { Claim } from '../../../knowledge/wiki/claim.ts';
import type {
  FileOrigin,
  MessageOrigin,
  ProvenanceKind,
  ProvenanceRecord,
  ProvenanceVersion,
} from '../../../storage/records/provenance-record.ts';
import { toPlainText } from '../../../storage/session-views.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { LongTermMemories } from '../memory/long-term-memories.ts';
import { toClaimText } from './claim-text.ts';
import { getLines } from './find-origins.ts';
import type { Provenance, ProvenanceDeps } from './provenance.ts';

interface ProvenanceReaderDeps {
  provenance: Provenance;
  longTermMemories: Pick<LongTermMemories, 'listIn'>;
  /** Claims of the workspace's wiki. */
  listClaims(): Promise<Claim[]>;
  /** The workspace's files. */
  files: Workspace;
  workspace: string;
  messages: ProvenanceDeps['vault']['messages'] & Pick<Vault['messages'], 'get'>;
}

/** An entry whose origin can be shown. */
interface Entry {
  kind: ProvenanceKind;
  name: string;
  /** Text to show, and text as it was recorded. */
  text: string;
  recorded: string;
  createdAt?: number;
}

type SourceState = ProvenanceMessage['state'];

const MAX_TEXT_CHARS = 2000;
const MAX_QUOTE_CHARS = 300;
/** Maximum number of messages shown per version. */
const MAX_SHOWN = 100;
const MAX_PROBLEMS = 200;

/** Reads the origins of a workspace's content and compares them with what is stored now. */
export class ProvenanceReader {
  readonly #deps: ProvenanceReaderDeps;
  /** Text of each message read so far; null if it was deleted. */
  readonly #texts = new Map<string, Promise<string | null>>();

  constructor(deps: ProvenanceReaderDeps) {
    this.#deps = deps;
  }

  /** Throws `NOT_FOUND` if neither the entry nor its record exists. */
  async getChain(kind: ProvenanceKind, name: string): Promise<ProvenanceChain> {
    const { provenance, workspace } = this.#deps;
    const entry = await this.#findEntry(kind, name);
    const record = (await provenance.get({ workspace, kind, name })) ?? (entry && (await this.#findByTime(entry)));
    if (!entry && !record) throw new RpcError('NOT_FOUND', `No ${kind} with the name "${name}".`);
    const versions = await Promise.all((record?.versions ?? []).map((version) => this.#toView(version)));
    const text = entry ? shorten(entry.text, MAX_TEXT_CHARS) : null;
    const state = await this.#computeState(entry, record);
    return { kind, name, text, state, versions: versions.reverse() };
  }

  /** States of all entries. */
  async check(): Promise<{
    checked: number;
    byState: Partial<Record<ProvenanceState, number>>;
    problems: { kind: ProvenanceKind; name: string; text: string | null; state: ProvenanceState }[];
  }> {
    const { provenance, workspace } = this.#deps;
    const records = new Map((await provenance.list(workspace)).map((record) => [record.id, record]));
    const entries = await this.#listEntries();
    const byState: Partial<Record<ProvenanceState, number>> = {};
    const problems = [];
    for (const entry of entries) {
      const { kind, name, text } = entry;
      const record = records.get(`${workspace}/${kind}/${name}`) ?? (await this.#findByTime(entry));
      const state = await this.#computeState(entry, record);
      byState[state] = (byState[state] ?? 0) + 1;
      if (state !== 'intact' && state !== 'unrecorded') problems.push({ kind, name, text: shorten(text, MAX_QUOTE_CHARS), state });
    }
    return { checked: entries.length, byState, problems: problems.slice(0, MAX_PROBLEMS) };
  }

  async #listEntries(): Promise<Entry[]> {
    const kinds = ['memory', 'day', 'claim', 'dream', 'report'] as const;
    return (await Promise.all(kinds.map((kind) => this.#listKind(kind)))).flat();
  }

  async #findEntry(kind: ProvenanceKind, name: string): Promise<Entry | undefined> {
    return (await this.#listKind(kind)).find((entry) => entry.name === name);
  }

  async #listKind(kind: ProvenanceKind): Promise<Entry[]> {
    const { files, workspace, longTermMemories, listClaims } = this.#deps;
    const toEntry = (name: string, text: string): Entry => ({ kind, name, text, recorded: text });
    if (kind === 'memory')
      return (await longTermMemories.listIn(workspace)).map(({ id, text, createdAt }) => ({ ...toEntry(id, text), createdAt }));
    if (kind === 'claim') return (await listClaims()).map((claim) => ({ ...toEntry(claim.id, claim.text), recorded: toClaimText(claim) }));
    if (kind === 'dream') {
      if ((await files.stat(PROMOTIONS_FILE)) === undefined) return [];
      const { promotions } = await new PromotionLog(files).read();
      return [...promotions.values()].map((promotion) => toEntry(promotion.contentHash, toMemoryText(promotion)));
    }
    const found: Entry[] = [];
    for (const { path } of await files.list(kind === 'day' ? NOTES_FOLDER : REPORTS_FOLDER)) {
      const date = parseNotesDate(path);
      if (kind === 'day' && (date === undefined || toNotesPath(date) !== path)) continue;
      const file = (await files.read(path)) ?? '';
      const text = kind === 'day' ? getSummary(file) : file;
      if (text !== undefined) found.push(toEntry(date ?? path, text));
    }
    return found;
  }

  /** The record of a memory whose text was changed in the file: its time is that of a memory that no longer exists. */
  async #findByTime({ kind, createdAt }: Entry): Promise<ProvenanceRecord | undefined> {
    if (kind !== 'memory' || createdAt === undefined) return undefined;
    const { provenance, workspace, longTermMemories } = this.#deps;
    const ids = new Set((await longTermMemories.listIn(workspace)).map(({ id }) => `${workspace}/memory/${id}`));
    return (await provenance.list(workspace, 'memory')).find((record) => record.createdAt === createdAt && !ids.has(record.id));
  }

  async #computeState(entry: Entry | undefined, record: ProvenanceRecord | undefined): Promise<ProvenanceState> {
    const { provenance } = this.#deps;
    const newest = record?.versions.at(-1);
    if (!record || !newest) return 'unrecorded';
    const isSigned = await provenance.isSigned(record);
    if (isSigned === undefined) return 'unverifiable';
    if (!isSigned) return 'tampered';
    const key = await provenance.findKey(newest);
    if (!entry || (await key?.hash(normalizeSpacing(entry.recorded))) !== newest.hash) return 'entryChanged';
    const states = new Set<SourceState>();
    for (const version of record.versions) {
      for (const message of version.messages) states.add((await this.#readMessage(message, version)).state);
      for (const file of version.files) states.add((await this.#readFile(file, version)).state);
    }
    if (states.has('changed')) return 'sourceChanged';
    return states.has('deleted') ? 'sourceDeleted' : 'intact';
  }

  async #toView(version: ProvenanceVersion): Promise<ProvenanceVersionView> {
    const { at, by, hash, signature, messages, files } = version;
    return {
      ...{ at, by, hash, signature },
      messages: await Promise.all(
        messages.slice(-MAX_SHOWN).map(async (message) => {
          const { sessionKey, ...origin } = message;
          const [agentId = '', sessionId = ''] = sessionKey.split('/');
          return { agentId, sessionId, ...origin, ...(await this.#readMessage(message, version)) };
        }),
      ),
      messageCount: messages.length,
      files: await Promise.all(files.map(async (file) => ({ ...file, ...(await this.#readFile(file, version)) }))),
    };
  }

  async #readMessage(
    { messageId, hash }: MessageOrigin,
    version: ProvenanceVersion,
  ): Promise<{ state: SourceState; quote: string | null }> {
    let reading = this.#texts.get(messageId);
    if (!reading) {
      reading = this.#deps.messages.get(messageId).then((message) => (message ? toPlainText(message.content) : null));
      this.#texts.set(messageId, reading);
    }
    const text = await reading;
    return text === null ? { state: 'deleted', quote: null } : this.#compare(text, hash, version);
  }

  async #readFile({ path, lines, hash }: FileOrigin, version: ProvenanceVersion): Promise<{ state: SourceState; quote: string | null }> {
    const text = await this.#deps.files.read(path);
    if (text === undefined) return { state: 'deleted', quote: null };
    if (lines === undefined) return this.#compare(text, hash, version);
    const [first = 1, last = first] = lines.split('-').map(Number);
    const compared = await this.#compare(getLines(text, first, last), hash, version);
    if (compared.state !== 'changed') return compared;
    // Lines above may have been added or removed.
    for (let line = 1; line <= text.split('\n').length; line++) {
      const moved = await this.#compare(getLines(text, line, line + last - first), hash, version);
      if (moved.state === 'intact') return moved;
    }
    return compared;
  }

  async #compare(text: string, hash: string, version: ProvenanceVersion): Promise<{ state: SourceState; quote: string }> {
    const key = await this.#deps.provenance.findKey(version);
    const quote = shorten(text, MAX_QUOTE_CHARS);
    if (!key) return { state: 'unverifiable', quote };
    return { state: (await key.hash(normalizeSpacing(text))) === hash ? 'intact' : 'changed', quote };
  }
}

function shorten(text: string, maxChars: number): string {
  const chars = [...text.trim()];
  return chars.length > maxChars ? `${chars.slice(0, maxChars).join('')} …` : chars.join('');
}
