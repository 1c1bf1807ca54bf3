import { SKILL_LIMITS, skillsPort } from '#shared/ports/skills-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SkillEntry } from '#shared/rpc/methods/skill-contracts.ts';
import { type Agent, getWorkspaceName } from '../agents.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import type { AgentNote } from '../runs/run-types.ts';
import type { RunTaint } from '../trust/run-taint.ts';
import { mergeSources } from '../trust/content-sources.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { parseSkill, type SkillMetadata } from './skill-front-matter.ts';
import { formatInvokedSkill, formatSkillsNote } from './skills-note.ts';

/** Display names of operating systems, by Node's names. */
const SYSTEM_NAMES: ReadonlyMap<string, string> = new Map([
  ['darwin', 'macOS'],
  ['linux', 'Linux'],
  ['win32', 'Windows'],
]);
/** How long a run may use cached skills of the bridge, and how long it waits for them. */
const CACHE_TTL_MS = 10_000;
const BRIDGE_TIMEOUT_MS = 2_000;
const SKILLS_FOLDER = 'skills/';
/** A message that begins with a skill's name. */
const INVOCATION = /^\/([a-z0-9]+(?:-[a-z0-9]+)*)(?=\s|$)/;

/** A skill with access to its files. */
export interface Skill {
  entry: SkillEntry;
  /** Names of its files other than `SKILL.md`. */
  files: string[];
  /** Outside sources of its files that no person has reviewed. */
  outside: readonly string[];
  /** Reads a text file of the skill. Throws `NOT_FOUND`, and `INVALID_PARAMS` if it is not text. */
  read(file: string, signal: AbortSignal): Promise<string>;
}

/** A skill whose requirements have not been checked yet. */
interface UncheckedSkill extends Omit<Skill, 'entry'> {
  folder: string;
  path: string;
  source: SkillEntry['source'];
  head: SkillMetadata | { problem: string };
}

/** Dependencies of `SkillLibrary`. */
interface SkillLibraryDeps {
  vault: Pick<Vault, 'files'>;
  bridge: Bridge;
  labels: Pick<ContentLabels, 'list'>;
  clock: Clock;
  agents: { list(): Agent[]; get(id: string): Agent };
  fault(error: unknown): unknown;
}

/** Skills of agents' workspaces and of the bridge's folder. They are text: nothing in them is executed or changes what an agent may do. */
export class SkillLibrary {
  readonly #deps: SkillLibraryDeps;
  /** Parsed heads of `SKILL.md` files by location; `stamp` changes with the file. */
  readonly #heads = new Map<string, { stamp: string; head: UncheckedSkill['head'] }>();
  #bridgeCache: { at: number; skills: UncheckedSkill[] } | undefined;

  constructor(deps: SkillLibraryDeps) {
    this.#deps = deps;
  }

  /** Reads all skills, or those of one agent. Throws `NOT_FOUND` if the agent does not exist. */
  async list(agentId?: string, signal?: AbortSignal): Promise<SkillEntry[]> {
    if (agentId !== undefined) return (await this.listForAgent(this.#deps.agents.get(agentId), signal)).map(({ entry }) => entry);
    const workspaces = [...new Set(this.#deps.agents.list().map(getWorkspaceName))];
    const found = [
      ...(await Promise.all(workspaces.map((name) => this.#listWorkspaceSkills(name)))).flat(),
      ...(await this.#listBridgeSkills(signal)),
    ];
    return (await this.#checkRequirements(found, signal)).map(({ entry }) => entry);
  }

  /** Skills of an agent by name. Those of its workspace take precedence over the bridge's, which may be cached for some seconds. */
  async listForAgent(agent: Agent, signal?: AbortSignal): Promise<Skill[]> {
    const found = [...(await this.#listWorkspaceSkills(getWorkspaceName(agent))), ...(await this.#listBridgeSkillsCached(signal))];
    const preferred = found.filter(({ folder }, index) => found.findIndex((other) => other.folder === folder) === index);
    return this.#checkRequirements(preferred, signal);
  }

  /**
   * Names and descriptions of the skills that are ready, and the text of the one that a message calls by name (`/name …`). Unreviewed
   * skills are not listed, because the list is part of the system message.
   */
  async getNotes(agent: Agent, message: string): Promise<{ list: string; called: AgentNote | undefined }> {
    const timeout = new AbortController();
    const cancel = this.#deps.clock.after(BRIDGE_TIMEOUT_MS, () =>
      timeout.abort(new RpcError('INTERNAL_ERROR', 'The bridge is not responding.')),
    );
    try {
      const ready = (await this.listForAgent(agent, timeout.signal)).filter(({ entry }) => entry.state === 'ready');
      const name = INVOCATION.exec(message)?.[1];
      const called = ready.find(({ entry }) => entry.name === name && entry.userInvocable !== false);
      const listed = ready.filter(({ outside }) => outside.length === 0);
      return {
        list: listed.length > 0 ? formatSkillsNote(listed.map(({ entry }) => entry)) : '',
        called: called && { text: formatInvokedSkill(called, await called.read('SKILL.md', timeout.signal)), outside: called.outside },
      };
    } finally {
      cancel();
    }
  }

  async #listWorkspaceSkills(workspace: string): Promise<UncheckedSkill[]> {
    const { vault, labels } = this.#deps;
    const labelled = await labels.list('file', `${workspace}/${SKILLS_FOLDER}`);
    const folders = new Map<string, { files: string[]; stamp: string | undefined }>();
    for (const { path, size, modifiedAt } of await vault.files.list(workspace, SKILLS_FOLDER)) {
      const [, folder = '', file] = /^skills\/([^/]+)\/(.+)$/.exec(path) ?? [];
      if (file === undefined) continue;
      const contents = folders.get(folder) ?? { files: [], stamp: undefined };
      if (file === 'SKILL.md') contents.stamp = `${size} ${modifiedAt}`;
      else if (contents.files.length < SKILL_LIMITS.files) contents.files.push(file);
      if (folders.size < SKILL_LIMITS.skills || folders.has(folder)) folders.set(folder, contents);
    }
    const read = async (folder: string, file: string): Promise<string> => {
      const record = await vault.files.get(workspace, `${SKILLS_FOLDER}${folder}/${file}`);
      if (!record) throw new RpcError('NOT_FOUND', `Skill ${folder} has no file "${file}".`);
      if (record.encoding !== 'utf8') throw new RpcError('INVALID_PARAMS', `${file} is not a text file.`);
      return record.content;
    };
    return Promise.all(
      [...folders].map(async ([folder, { files, stamp }]) => {
        const path = `${workspace}/${SKILLS_FOLDER}${folder}`;
        const head =
          stamp === undefined
            ? { problem: 'SKILL.md is missing' }
            : await this.#readHead(path, folder, stamp, () => read(folder, 'SKILL.md'));
        const outside = mergeSources(...[...labelled].flatMap(([name, sources]) => (name.startsWith(`${path}/`) ? [sources] : [])));
        return { folder, path, source: 'workspace' as const, head, files, outside, read: (file) => read(folder, file) };
      }),
    );
  }

  async #listBridgeSkills(signal?: AbortSignal): Promise<UncheckedSkill[]> {
    const { bridge, clock } = this.#deps;
    if (!bridge.provides(skillsPort)) return [];
    const { skills } = await bridge.call(skillsPort, 'list', {}, signal ? { signal } : {});
    const found = await Promise.all(
      skills.slice(0, SKILL_LIMITS.skills).map(async ({ folder, path, text, problem, files }) => ({
        folder,
        path,
        source: 'bridge' as const,
        head:
          text === null
            ? { problem: problem ?? 'Couldn’t read SKILL.md' }
            : await this.#readHead(`bridge:${folder}`, folder, text, async () => text),
        files,
        outside: [],
        async read(file: string, stop: AbortSignal) {
          const read = await bridge.call(skillsPort, 'read', { folder, file }, { signal: stop });
          return read.truncated ? `${read.text}\n[rest of ${file} omitted]` : read.text;
        },
      })),
    );
    this.#bridgeCache = { at: clock.monotonic(), skills: found };
    return found;
  }

  /** For a run, which continues without the bridge's skills if the bridge does not answer. */
  async #listBridgeSkillsCached(signal?: AbortSignal): Promise<UncheckedSkill[]> {
    const { bridge, clock, fault } = this.#deps;
    if (!bridge.provides(skillsPort)) return [];
    if (this.#bridgeCache && clock.monotonic() - this.#bridgeCache.at < CACHE_TTL_MS) return this.#bridgeCache.skills;
    return this.#listBridgeSkills(signal).catch((error: unknown) => {
      fault(error);
      return [];
    });
  }

  async #readHead(key: string, folder: string, stamp: string, text: () => Promise<string>): Promise<UncheckedSkill['head']> {
    const cached = this.#heads.get(key);
    if (cached?.stamp === stamp) return cached.head;
    const head = await text().then(
      (read) => parseSkill(folder, read),
      (error: unknown) => ({ problem: error instanceof Error ? error.message : 'Couldn’t read SKILL.md' }),
    );
    this.#heads.set(key, { stamp, head });
    return head;
  }

  /** Checks the requirements of all skills at once. */
  async #checkRequirements(skills: readonly UncheckedSkill[], signal?: AbortSignal): Promise<Skill[]> {
    const heads = skills.flatMap(({ head }) => ('problem' in head ? [] : [head]));
    const programs = [...new Set(heads.flatMap((head) => [...head.programs, ...head.anyOf.flat()]))];
    const variables = [...new Set(heads.flatMap((head) => head.variables))];
    const needsPlatform = heads.some(({ systems }) => systems.length > 0);
    const missingRequirements = await this.#findMissing({ programs, variables, needsPlatform }, signal);
    return skills.map(({ head, folder, path, source, files, outside, read }) => {
      if ('problem' in head) {
        return {
          entry: { name: folder, description: '', source, path, state: 'invalid', missing: [], problem: head.problem },
          files,
          outside,
          read,
        };
      }
      const isMissing = (name: string): boolean => missingRequirements.programs.has(name);
      const missing = [
        ...head.programs.filter(isMissing),
        ...head.anyOf.flatMap((names) => (names.every(isMissing) ? [names.join(' or ')] : [])),
        ...head.variables.filter((name) => missingRequirements.variables.has(name)),
        ...(head.systems.length === 0 || head.systems.includes(missingRequirements.platform ?? '')
          ? []
          : [head.systems.map(systemName).join(' or ')]),
      ];
      const { name, description, license, compatibility } = head;
      const entry: SkillEntry = { name, description, source, path, state: missing.length > 0 ? 'missing' : 'ready', missing };
      if (missing.length > 0 && missingRequirements.problem !== undefined) entry.problem = missingRequirements.problem;
      if (!head.userInvocable) entry.userInvocable = false;
      if (license !== undefined) entry.license = license;
      if (compatibility !== undefined) entry.compatibility = compatibility;
      return { entry, files, outside, read };
    });
  }

  /** `platform`: operating system of the bridge's machine, if known. */
  async #findMissing(
    { programs, variables, needsPlatform }: { programs: string[]; variables: string[]; needsPlatform: boolean },
    signal?: AbortSignal,
  ): Promise<{ programs: Set<string>; variables: Set<string>; platform?: string; problem?: string }> {
    const { bridge } = this.#deps;
    if (programs.length + variables.length === 0 && !needsPlatform) return { programs: new Set(), variables: new Set() };
    const unknown = { programs: new Set(programs), variables: new Set(variables) };
    if (!bridge.provides(skillsPort)) return { ...unknown, problem: 'Checking its requirements needs the bridge' };
    try {
      const query = { programs: programs.slice(0, 500), variables: variables.slice(0, 500) };
      const checked = await bridge.call(skillsPort, 'missing', query, signal ? { signal } : {});
      const [uncheckedPrograms, uncheckedVariables] = [programs.slice(500), variables.slice(500)];
      return {
        programs: new Set([...checked.programs, ...uncheckedPrograms]),
        variables: new Set([...checked.variables, ...uncheckedVariables]),
        platform: checked.platform,
      };
    } catch (error) {
      return { ...unknown, problem: `Couldn’t check its requirements: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
}

/** Skills that may be announced to a run without tainting it. */
export const withoutUnreviewed = (skills: readonly Skill[], taint: RunTaint | undefined): Skill[] =>
  skills.filter(({ outside }) => outside.length === 0 || taint?.isTainted !== false);

const systemName = (system: string): string => SYSTEM_NAMES.get(system) ?? system;
