import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ReviewItem } from '#shared/rpc/methods/review-contracts.ts';
import { type Agents, getWorkspaceName } from '../agents.ts';
import type { DrawingStore } from '../../drawings/drawing-store.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { AgentMemories } from '../knowledge/memory/agent-memories.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import type { AgentToolkit } from '../toolkit/agent-toolkit.ts';
import { type ContentLabels, REVIEWED_KINDS, type ReviewedKind } from './content-labels.ts';
import { findProjectId } from '../../storage/records/project-record.ts';
import type { ContentLabel } from '../../storage/records/content-label.ts';
import { getMessageSources } from './content-sources.ts';
import type { Lazy } from '../../system/modules.ts';

/** Maximum characters of a text in the list, and of one that is read alone. */
const MAX_TEXT_CHARS = 4000;
const MAX_WHOLE_TEXT_CHARS = 1_000_000;
const MAX_TITLE_CHARS = 200;

export interface ReviewsDeps {
  vault: Pick<Vault, 'files' | 'messages' | 'sessions' | 'collection'>;
  labels: ContentLabels;
  agents: Agents;
  memories: Lazy<AgentMemories>;
  longTermMemories: Lazy<LongTermMemories>;
  drawings: Lazy<Pick<DrawingStore, 'list' | 'remove'>>;
  agentToolkit: Lazy<Pick<AgentToolkit, 'workspaces' | 'plans'>>;
  log: LogWriter;
}

interface ContentName {
  kind: ReviewedKind;
  /** Workspace of a file or memory. */
  workspace: string;
  /** Path of the file, or id of the memory, plan or drawing. */
  name: string;
}

/** Content that waits for a person's review. */
export class Reviews {
  readonly #deps: ReviewsDeps;

  constructor(deps: ReviewsDeps) {
    this.#deps = deps;
  }

  /**
   * Items to review, newest first; with `id` only this one, with its whole text. A label without content is skipped but kept: it is written
   * before its content and syncs separately.
   */
  async list(id?: string): Promise<ReviewItem[]> {
    const labels = (await this.#deps.labels.listReviewed()).filter((label) => id === undefined || label.id === id);
    const maxChars = id === undefined ? MAX_TEXT_CHARS : MAX_WHOLE_TEXT_CHARS;
    const items = await Promise.all(labels.map((label) => this.#toItem(label, maxChars)));
    return items.flatMap((item) => item ?? []).sort((a, b) => b.at - a.at);
  }

  /** Throws `NOT_FOUND`, and `ALREADY_EXISTS` if the content has changed since the person saw it. */
  async approve(id: string, at?: number): Promise<void> {
    const label = at === undefined ? undefined : (await this.#deps.labels.listReviewed()).find((each) => each.id === id);
    if (label && label.at !== at)
      throw new RpcError('ALREADY_EXISTS', 'This has changed since you saw it. Read it again, then approve it.');
    await this.#removeLabel(id);
    this.#deps.log.write('info', 'review', 'Approved content from outside', { id });
  }

  /** Deletes the content and its label. Throws `NOT_FOUND`. */
  async discard(id: string): Promise<void> {
    const { labels, agentToolkit, memories, drawings, log } = this.#deps;
    const { kind, workspace, name } = parseLabelId(id);
    if ((await labels.getSources(kind, id.slice(kind.length + 1))).length === 0) throw createNotFoundError(id);
    if (kind === 'file') await (await agentToolkit.load()).workspaces.remove(workspace, name);
    else if (kind === 'plan') await (await agentToolkit.load()).plans.remove(name);
    else if (kind === 'drawing') await (await drawings.load()).remove(name);
    else await (await (await memories.load()).openWorkspace(workspace)).forget(name);
    await this.#removeLabel(id);
    log.write('info', 'review', 'Discarded content from outside', { id });
  }

  /** Marks the messages of a session as reviewed and returns their number. Throws `NOT_FOUND`. */
  async trustChat(agentId: string, sessionId: string): Promise<number> {
    const { vault, log } = this.#deps;
    const key = toSessionKey(agentId, sessionId);
    if (!(await vault.sessions.get(key))) throw new RpcError('NOT_FOUND', `No session with id "${sessionId}".`);
    const messages = await vault.messages.listAll(key);
    const labelled = messages.filter(
      (message) => getMessageSources(message).length > 0 || message.compaction?.outside?.length || message.runContext?.outside?.length,
    );
    await vault.messages.review(labelled.map(({ id }) => id));
    log.write('info', 'review', 'Trusted a chat', { session: key, messages: labelled.length });
    return labelled.length;
  }

  async #removeLabel(id: string): Promise<void> {
    const { kind } = parseLabelId(id);
    if (!(await this.#deps.labels.remove(kind, id.slice(kind.length + 1)))) throw createNotFoundError(id);
  }

  async #toItem({ id, sources, at }: ContentLabel, maxChars: number): Promise<ReviewItem | undefined> {
    const { kind, workspace, name } = parseLabelId(id);
    const content = await this.#readContent(kind, workspace, name);
    const text = content?.text ?? null;
    return (
      content && {
        id,
        kind,
        sources,
        at,
        title: content.title.slice(0, MAX_TITLE_CHARS),
        text: text?.slice(0, maxChars) ?? null,
        ...(text !== null && text.length > maxChars ? { chars: text.length } : {}),
      }
    );
  }

  async #readContent(kind: ReviewedKind, workspace: string, name: string): Promise<{ title: string; text: string | null } | undefined> {
    const { vault, agentToolkit, longTermMemories, drawings, agents } = this.#deps;
    if (kind === 'file') {
      const file = await vault.files.get(workspace, name);
      return file && { title: file.path, text: file.encoding === 'utf8' ? file.content : null };
    }
    if (kind === 'plan') {
      const plan = await (await agentToolkit.load()).plans.get(name).catch(() => undefined);
      return (
        plan && {
          title: plan.goal,
          text: plan.steps.map(({ description, result }) => [description, result].filter(Boolean).join('\n')).join('\n'),
        }
      );
    }
    if (kind === 'drawing') {
      const drawing = (await (await drawings.load()).list()).find((entry) => entry.id === name);
      return drawing && { title: drawing.title, text: null };
    }
    const projectId = findProjectId(workspace);
    const isUsed =
      agents.list().some((agent) => getWorkspaceName(agent) === workspace) ||
      (projectId !== undefined && (await vault.collection('projects').get(projectId)) !== undefined);
    if (!isUsed) return undefined;
    const memory = (await (await longTermMemories.load()).listIn(workspace)).find((entry) => entry.id === name);
    return memory && { title: memory.text, text: memory.text };
  }
}

function parseLabelId(id: string): ContentName {
  const kind = REVIEWED_KINDS.find((each) => id.startsWith(`${each}:`));
  if (!kind) throw createNotFoundError(id);
  const rest = id.slice(kind.length + 1);
  if (kind === 'plan' || kind === 'drawing') return { kind, workspace: '', name: rest };
  const at = rest.indexOf('/');
  return { kind, workspace: rest.slice(0, at), name: rest.slice(at + 1) };
}

const createNotFoundError = (id: string): RpcError => new RpcError('NOT_FOUND', `Nothing with id "${id}" waits for review.`);
