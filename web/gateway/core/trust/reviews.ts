import { RpcError } from '#shared/rpc/errors.ts';
import type { ReviewItem } from '#shared/rpc/methods/review.ts';
import { type Agents, workspaceOf } from '../agents.ts';
import type { Drawings } from '../drawings/drawings.ts';
import type { LogWriter } from '../log/log.ts';
import type { Memories } from '../memory/later.ts';
import { sessionKey, type Vault } from '../vault.ts';
import type { Workbench } from '../workbench.ts';
import type { ContentLabel, ContentLabels, LabelledKind } from './labels.ts';
import { getMessageSources } from './sources.ts';

const MAX_TEXT = 4000;
const MAX_TITLE = 200;

export interface ReviewsDeps {
  vault: Pick<Vault, 'files' | 'messages' | 'sessions'>;
  labels: ContentLabels;
  agents: Agents;
  memories: Memories;
  drawings(): Promise<Pick<Drawings, 'list' | 'remove'>>;
  workbench(): Promise<Pick<Workbench, 'workspaces' | 'plans'>>;
  log: LogWriter;
}

interface Named {
  kind: LabelledKind;
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

  /** Items to review, newest first. A label without content is skipped but kept: it is written before its content and syncs separately. */
  async list(): Promise<ReviewItem[]> {
    const labels = await this.#deps.labels.all();
    const items = await Promise.all(labels.map((label) => this.#item(label)));
    return items.flatMap((item) => item ?? []).sort((a, b) => b.at - a.at);
  }

  /** Throws `NOT_FOUND`, and `ALREADY_EXISTS` if the content has changed since the person saw it. */
  async approve(id: string, at?: number): Promise<void> {
    const label = at === undefined ? undefined : (await this.#deps.labels.all()).find((each) => each.id === id);
    if (label && label.at !== at)
      throw new RpcError('ALREADY_EXISTS', 'This has changed since you saw it. Read it again, then approve it.');
    await this.#removeLabel(id);
    this.#deps.log.write('info', 'review', 'Approved content from outside', { id });
  }

  /** Deletes the content and its label. Throws `NOT_FOUND`. */
  async discard(id: string): Promise<void> {
    const { labels, workbench, memories, drawings, log } = this.#deps;
    const { kind, workspace, name } = parse(id);
    if ((await labels.getSources(kind, id.slice(kind.length + 1))).length === 0) throw unknown(id);
    if (kind === 'file') await (await workbench()).workspaces.remove(workspace, name);
    else if (kind === 'plan') await (await workbench()).plans.remove(name);
    else if (kind === 'drawing') await (await drawings()).remove(name);
    else await (await (await memories.load()).of(this.#agentWith(workspace))).forget(name);
    await this.#removeLabel(id);
    log.write('info', 'review', 'Discarded content from outside', { id });
  }

  /** Marks the messages of a session as reviewed and returns their number. Throws `NOT_FOUND`. */
  async trustChat(agentId: string, sessionId: string): Promise<number> {
    const { vault, log } = this.#deps;
    const key = sessionKey(agentId, sessionId);
    if (!(await vault.sessions.get(key))) throw new RpcError('NOT_FOUND', `No session with id "${sessionId}".`);
    const messages = await vault.messages.all(key);
    const labelled = messages.filter(
      (message) => getMessageSources(message).length > 0 || message.compaction?.outside?.length || message.runContext?.outside?.length,
    );
    await vault.messages.review(labelled.map(({ id }) => id));
    log.write('info', 'review', 'Trusted a chat', { session: key, messages: labelled.length });
    return labelled.length;
  }

  async #removeLabel(id: string): Promise<void> {
    const { kind } = parse(id);
    if (!(await this.#deps.labels.remove(kind, id.slice(kind.length + 1)))) throw unknown(id);
  }

  async #item({ id, sources, at }: ContentLabel): Promise<ReviewItem | undefined> {
    const { kind, workspace, name } = parse(id);
    const content = await this.#content(kind, workspace, name);
    return content && { id, kind, sources, at, title: content.title.slice(0, MAX_TITLE), text: content.text?.slice(0, MAX_TEXT) ?? null };
  }

  async #content(kind: LabelledKind, workspace: string, name: string): Promise<{ title: string; text: string | null } | undefined> {
    const { vault, workbench, memories, drawings, agents } = this.#deps;
    if (kind === 'file') {
      const file = await vault.files.get(workspace, name);
      return file && { title: file.path, text: file.encoding === 'utf8' ? file.content : null };
    }
    if (kind === 'plan') {
      const plan = await (await workbench()).plans.get(name).catch(() => undefined);
      return (
        plan && {
          title: plan.goal,
          text: plan.steps.map(({ description, result }) => [description, result].filter(Boolean).join('\n')).join('\n'),
        }
      );
    }
    if (kind === 'drawing') {
      const drawing = (await (await drawings()).list()).find((entry) => entry.id === name);
      return drawing && { title: drawing.title, text: null };
    }
    if (!agents.list().some((agent) => workspaceOf(agent) === workspace)) return undefined;
    const memory = (await (await memories.longTerm()).list(this.#agentWith(workspace))).find((entry) => entry.id === name);
    return memory && { title: memory.text, text: memory.text };
  }

  #agentWith(workspace: string): string {
    const agent = this.#deps.agents.list().find((each) => workspaceOf(each) === workspace);
    if (!agent) throw new RpcError('NOT_FOUND', `No agent uses the workspace "${workspace}".`);
    return agent.id;
  }
}

const KINDS: readonly LabelledKind[] = ['file', 'memory', 'plan', 'drawing'];

function parse(id: string): Named {
  const kind = KINDS.find((each) => id.startsWith(`${each}:`));
  if (!kind) throw unknown(id);
  const rest = id.slice(kind.length + 1);
  if (kind === 'plan' || kind === 'drawing') return { kind, workspace: '', name: rest };
  const at = rest.indexOf('/');
  return { kind, workspace: rest.slice(0, at), name: rest.slice(at + 1) };
}

const unknown = (id: string): RpcError => new RpcError('NOT_FOUND', `Nothing with id "${id}" waits for review.`);
