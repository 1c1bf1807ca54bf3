import type { ModelParameters, ThinkingLevel } from '#shared/rpc/model-parameters.ts';
import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { projects } from '#app/projects/project-list.svelte.ts';
import { sessions } from '#app/state/session-list.svelte.ts';

/** How a chat is answered: with memories or not, and with which parameters. What is chosen for a new chat is kept until there is one. */
export class ChatSettings {
  readonly #agentId: () => string;
  readonly #sessionId: () => string | null;
  readonly #projectId: () => string | null;
  #isMemoryWanted = $state(true);
  #wantedParameters = $state.raw<ModelParameters | null>(null);

  /** `sessionId`: null for a new chat. `projectId`: the project that it is created in. */
  constructor(agentId: () => string, sessionId: () => string | null, projectId: () => string | null) {
    this.#agentId = agentId;
    this.#sessionId = sessionId;
    this.#projectId = projectId;
  }

  get usesMemory(): boolean {
    return this.#sessionId() === null ? this.#isMemoryWanted : this.#entry?.recall !== false;
  }

  /** Null if all are inherited. */
  get parameters(): ModelParameters | null {
    return this.#sessionId() === null ? this.#wantedParameters : (this.#entry?.parameters ?? null);
  }

  /** Rejects if the gateway refuses, like the other methods. */
  async setMemory(isOn: boolean): Promise<void> {
    const sessionId = this.#sessionId();
    if (sessionId === null) this.#isMemoryWanted = isOn;
    else await sessions.setRecall(this.#toPath(sessionId), isOn);
  }

  async setParameters(parameters: ModelParameters | null): Promise<void> {
    const sessionId = this.#sessionId();
    if (sessionId === null) this.#wantedParameters = parameters;
    else await sessions.setParameters(this.#toPath(sessionId), parameters);
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
    if (this.#wantedParameters) await sessions.setParameters(path, this.#wantedParameters, true);
    this.#isMemoryWanted = true;
    this.#wantedParameters = null;
  }

  get #entry(): SessionEntry | undefined {
    const sessionId = this.#sessionId();
    return sessionId === null ? undefined : sessions.findEntry(this.#agentId(), sessionId);
  }

  #toPath(sessionId: string): string {
    return `${this.#agentId()}/${sessionId}.jsonl`;
  }
}
