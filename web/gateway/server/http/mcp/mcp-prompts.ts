import { type GetPromptResult, type Prompt as McpPrompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { parsePrompt, parsePromptName, PROMPTS_FOLDER } from '#shared/prompts/prompt-file.ts';
import { type Prompt, PROMPT_LIMITS } from '#shared/prompts/prompt.ts';
import { fillPrompt, findUserVariables, hasAppVariable } from '#shared/prompts/prompt-variables.ts';
import { type Agent } from '../../../agent/agents.ts';
import { MAIN_AGENT_ID } from '../../../config/main-agent.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Skill, SkillLibrary } from '../../../agent/skills/skill-library.ts';
import { formatInvokedSkill } from '../../../agent/skills/skills-note.ts';
import type { ContentLabels } from '../../../agent/trust/content-labels.ts';
import type { Vault } from '../../../storage/vault-interface.ts';

export interface McpPromptsDeps {
  files: Pick<Vault['files'], 'list' | 'get'>;
  labels: Pick<ContentLabels, 'list'>;
  skills(): Promise<Pick<SkillLibrary, 'listForAgent'>>;
  clock: Pick<Clock, 'now'>;
  timeZone(): string;
}

/** The clipboard is the client's, so it is an argument of the prompt. */
const CLIPBOARD_ARGUMENT = 'clipboard';
/** Argument of a skill's prompt. */
const REQUEST_ARGUMENT = 'request';

const findArguments = ({ text }: Prompt): string[] => [
  ...findUserVariables(text),
  ...(hasAppVariable(text, 'clipboard') ? [CLIPBOARD_ARGUMENT] : []),
];

/**
 * Saved prompts and an agent's skills as MCP prompts. Both are instructions, so unreviewed texts from outside are omitted. Saved prompts
 * are files and require the caller's right to read them.
 */
export class McpPrompts {
  readonly #deps: McpPromptsDeps;

  constructor(deps: McpPromptsDeps) {
    this.#deps = deps;
  }

  async list(agent: Agent, mayReadFiles: boolean): Promise<McpPrompt[]> {
    const saved = mayReadFiles ? await this.#savedNames() : [];
    const prompts = await Promise.all(saved.map((name) => this.#read(name)));
    const skills = (await this.#skills(agent)).filter(({ entry }) => !saved.includes(entry.name));
    return [
      ...prompts.flatMap((prompt) => (prompt ? [describePrompt(prompt)] : [])),
      ...skills.map(({ entry: { name, description } }) => ({
        ...{ name, title: `Skill: ${name}`, description },
        arguments: [{ name: REQUEST_ARGUMENT, description: 'Task for the skill', required: false }],
      })),
    ];
  }

  /** Throws an MCP error if the prompt does not exist or an argument is missing. */
  async get(
    { name, values, signal }: { name: string; values: Readonly<Record<string, string>>; signal: AbortSignal },
    agent: Agent,
    mayReadFiles: boolean,
  ): Promise<GetPromptResult> {
    if (mayReadFiles && (await this.#savedNames()).includes(name)) {
      const prompt = await this.#read(name);
      if (prompt) return { description: prompt.description || prompt.title, messages: [toMessage(this.#fill(prompt, values))] };
    }
    const skill = (await this.#skills(agent)).find(({ entry }) => entry.name === name);
    if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No prompt with name "${name}".`);
    const note = formatInvokedSkill(skill, await skill.read('SKILL.md', signal));
    const request = values[REQUEST_ARGUMENT]?.trim() ?? '';
    return { description: skill.entry.description, messages: [toMessage(`${note}\n\n/${name}${request === '' ? '' : ` ${request}`}`)] };
  }

  #fill(prompt: Prompt, values: Readonly<Record<string, string>>): string {
    const argumentNames = findArguments(prompt);
    const missing = argumentNames.filter((name) => !Object.hasOwn(values, name));
    if (missing.length > 0)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Missing argument${missing.length > 1 ? 's' : ''}: ${missing.join(', ')}.`);
    const [date, time] = this.#formatNow();
    return fillPrompt(
      prompt.text,
      new Map([['date', date], ['time', time], ...argumentNames.map((name) => [name, values[name] ?? ''] as const)]),
    );
  }

  #formatNow(): [date: string, time: string] {
    const [now, timeZone] = [this.#deps.clock.now(), this.#deps.timeZone()];
    return [
      new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone }).format(now),
      new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone }).format(now),
    ];
  }

  async #savedNames(): Promise<string[]> {
    const { files, labels } = this.#deps;
    const prefix = `${PROMPTS_FOLDER}/`;
    const [entries, outsidePaths] = await Promise.all([
      files.list(MAIN_AGENT_ID, prefix),
      labels.list('file', `${MAIN_AGENT_ID}/${prefix}`),
    ]);
    return entries
      .flatMap(({ path }) => (outsidePaths.has(`${MAIN_AGENT_ID}/${path}`) ? [] : [parsePromptName(path)]))
      .filter((name) => name !== null)
      .slice(0, PROMPT_LIMITS.count);
  }

  async #read(name: string): Promise<Prompt | undefined> {
    const file = await this.#deps.files.get(MAIN_AGENT_ID, `${PROMPTS_FOLDER}/${name}.md`);
    if (file?.encoding !== 'utf8') return undefined;
    const prompt = parsePrompt(name, file.content);
    return { ...prompt, text: prompt.text.slice(0, PROMPT_LIMITS.text) };
  }

  async #skills(agent: Agent): Promise<Skill[]> {
    const skills = await (await this.#deps.skills()).listForAgent(agent);
    return skills.filter(({ entry, outside }) => entry.state === 'ready' && entry.userInvocable !== false && outside.length === 0);
  }
}

const describePrompt = (prompt: Prompt): McpPrompt => ({
  name: prompt.name,
  title: prompt.title,
  ...(prompt.description === '' ? {} : { description: prompt.description }),
  arguments: findArguments(prompt).map((name) => ({ name, required: true })),
});

const toMessage = (text: string): GetPromptResult['messages'][number] => ({ role: 'user', content: { type: 'text', text } });
