import type { BudgetForm } from '#app/budgets/budget-form.svelte.ts';
import type { ModelParameters, ThinkingLevel } from '#shared/rpc/model-parameters.ts';
import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { m } from '#app/i18n/messages.ts';
import { projects } from '#app/projects/project-list.svelte.ts';
import { sessions } from '#app/state/session-list.svelte.ts';
import { toProblem } from '#kit/problems.ts';
import { toasts } from '#kit/toasts.svelte.ts';

/** How a chat is answered: with memories or not, from which collections, and with which parameters. What is chosen for a new chat is kept until there is one. */
export class ChatSettings {
  readonly #agentId: () => string;
  readonly #sessionId: () => string | null;
  readonly #projectId: () => string | null;
  #isMemoryWanted = $state(true);
  #areToolsWanted = $state({ web: true, browser: true });
  #wantedParameters = $state.raw<ModelParameters | null>(null);
  #wantedCollections = $state.raw<readonly string[]>([]);
  /** Budget of a new chat. */
  newBudget = $state.raw<BudgetForm | null>(null);

  /** `sessionId`: null for a new chat. `projectId`: the project that it is created in. */
  constructor(agentId: () => string, sessionId: () => string | null, projectId: () => string | null) {
    this.#agentId = agentId;
    this.#sessionId = sessionId;
    this.#projectId = projectId;
  }

  get usesMemory(): boolean {
    return this.#sessionId() === null ? this.#isMemoryWanted : this.#entry?.recall !== false;
  }

  /** Whether the agent gets tools for the web or the browser. */
  uses(tools: 'web' | 'browser'): boolean {
    return this.#sessionId() === null ? this.#areToolsWanted[tools] : this.#entry?.[tools] !== false;
  }

  /** Null if all are inherited. */
  get parameters(): ModelParameters | null {
    return this.#sessionId() === null ? this.#wantedParameters : (this.#entry?.parameters ?? null);
  }

  /** IDs of the attached collections, besides those of the agent. */
  get collections(): readonly string[] {
    return this.#sessionId() === null ? this.#wantedCollections : (this.#entry?.collections ?? []);
  }

  /** Scope of the chat's budget; null for a new chat. */
  get budgetScope(): string | null {
    const sessionId = this.#sessionId();
    return sessionId === null ? null : this.#toBudgetScope(sessionId);
  }

  /** Rejects if the gateway refuses, like the other methods. */
  async setMemory(isOn: boolean): Promise<void> {
    const sessionId = this.#sessionId();
    if (sessionId === null) this.#isMemoryWanted = isOn;
    else await sessions.setRecall(this.#toPath(sessionId), isOn);
  }

  async setTools(tools: 'web' | 'browser', isOn: boolean): Promise<void> {
    const sessionId = this.#sessionId();
    if (sessionId === null) this.#areToolsWanted[tools] = isOn;
    else await sessions.setTools(this.#toPath(sessionId), tools, isOn);
  }

  async setParameters(parameters: ModelParameters | null): Promise<void> {
    const sessionId = this.#sessionId();
    if (sessionId === null) this.#wantedParameters = parameters;
    else await sessions.setParameters(this.#toPath(sessionId), parameters);
  }

  async setCollections(ids: readonly string[]): Promise<void> {
    const sessionId = this.#sessionId();
    if (sessionId === null) this.#wantedCollections = ids;
    else await sessions.setCollections(this.#toPath(sessionId), ids);
  }

  addCollection(id: string): Promise<void> {
    return this.setCollections([...new Set([...this.collections, id])]);
  }

  removeCollection(id: string): Promise<void> {
    return this.setCollections(this.collections.filter((each) => each !== id));
  }

  /** An empty level is inherited. */
  async setThinking(level: ThinkingLevel | ''): Promise<void> {
    const { thinking: _, ...others } = this.parameters ?? {};
    const changed = level === '' ? others : { ...others, thinking: level };
    await this.setParameters(Object.keys(changed).length > 0 ? changed : null);
  }

  /** Stores what was chosen for a new chat, before its first message: that must not be answered otherwise. */
  async prepare(sessionId: string): Promise<void> {
    const path = this.#toPath(sessionId);
    const projectId = this.#projectId();
    if (projectId !== null) await projects.createChat(path, projectId);
    if (!this.#isMemoryWanted) await sessions.setRecall(path, false, true);
    for (const tools of ['web', 'browser'] as const) if (!this.#areToolsWanted[tools]) await sessions.setTools(path, tools, false, true);
    if (this.#wantedParameters || this.newBudget) await sessions.setParameters(path, this.#wantedParameters, true);
    await this.newBudget?.save(this.#toBudgetScope(sessionId));
    if (this.#wantedCollections.length > 0) await sessions.setCollections(path, this.#wantedCollections, true);
    this.#isMemoryWanted = true;
    this.#areToolsWanted = { web: true, browser: true };
    this.#wantedParameters = this.newBudget = null;
    this.#wantedCollections = [];
  }

  get #entry(): SessionEntry | undefined {
    const sessionId = this.#sessionId();
    return sessionId === null ? undefined : sessions.findEntry(this.#agentId(), sessionId);
  }

  #toPath(sessionId: string): string {
    return `${this.#agentId()}/${sessionId}.jsonl`;
  }

  #toBudgetScope(sessionId: string): string {
    return `chat:${this.#agentId()}/${sessionId}`;
  }
}

/** Changes settings, and shows why if they cannot be changed. Resolves with whether they were. */
export async function tryChange(change: () => Promise<void>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    toasts.show(toProblem(error, m.chat_doing_set_parameters()).message, { sticky: true });
    return false;
  }
}
