import { toSafeFileName } from '#shared/file-name.ts';
import { type ArchiveEntry, type Project, projectContracts } from '#shared/rpc/methods/project-contracts.ts';
import { workspacePath } from '#shared/rpc/workspace-file.ts';
import { id } from '#shared/rpc/frames.ts';
import { agentParameters } from '#shared/rpc/model-parameters.ts';
import { formatIssue } from '#shared/rpc/format-issue.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import { LONG_TERM_FILE } from '../../knowledge/memory/layout.ts';
import { isCategory } from '../../knowledge/memory/long-term.ts';
import { type SessionRecord, toSessionKey } from '../../storage/chat-records.ts';
import { getProjectWorkspace, type ProjectRecord } from '../../storage/records/project-record.ts';
import { createSessionChangedEvent } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { Lazy } from '../../system/modules.ts';
import type { Agents } from '../agents.ts';
import type { AgentMemories } from '../knowledge/memory/agent-memories.ts';
import { labelMemory } from '../knowledge/memory/label-memory.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import type { Models } from '../runs/run-types.ts';
import { exportChat, MAX_EXPORT_CHARS } from '../sessions/export-chat.ts';
import { readImportedChat } from '../sessions/read-imported-chat.ts';
import { copyMessages } from '../sessions/session-transfer.ts';
import type { AgentToolkit } from '../toolkit/agent-toolkit.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { toSource } from '../trust/content-sources.ts';
import { createProject, type Projects } from './projects.ts';

export interface ProjectTransferDeps {
  vault: Pick<Vault, 'collection' | 'sessions' | 'messages' | 'files'>;
  hub: Pick<EventBus, 'emit'>;
  clock: Pick<Clock, 'now'>;
  agents: Agents;
  models: Pick<Models, 'resolve'>;
  labels: ContentLabels;
  memories: Lazy<AgentMemories>;
  longTermMemories: Lazy<LongTermMemories>;
  agentToolkit: Lazy<Pick<AgentToolkit, 'workspaces'>>;
  projects: Projects;
}

const MANIFEST = 'project.json';
const INSTRUCTIONS = 'instructions.md';
const MEMORIES = 'memories.json';
const FILES = 'files/';

/** `project.json`. Unknown fields are ignored, and invalid optional ones have their defaults. */
const manifest = z.object({
  format: z.literal('perch-project'),
  id,
  name: projectContracts['projects.create'].params.shape.name,
  model: z.string().min(1).max(300).nullable().catch(null),
  parameters: z.strictObject(agentParameters).nullable().catch(null),
  agentId: id.nullable().catch(null),
  agents: z.array(id).max(100).catch([]),
  collections: z.array(z.object({ id })).max(100).catch([]),
  memory: z.enum(['shared', 'own', 'both']).catch('own'),
  archived: z.boolean().catch(false),
  createdAt: z.number().nonnegative().catch(0),
  chats: z
    .array(
      z.object({
        path: z.string(),
        agentId: id,
        sessionId: id,
        title: z.string().min(1).max(200),
        pinned: z.boolean().catch(false),
        archived: z.boolean().catch(false),
        tags: z.array(z.string().max(50)).max(50).catch([]),
      }),
    )
    .max(100_000)
    .catch([]),
});
const memoryList = z.array(z.object({ text: z.string().trim().min(1).max(10_000), category: z.string().catch(''), createdAt: z.number() }));

/** Maximum characters of a title in the name of a file. */
const MAX_TITLE_CHARS = 80;

/** A title as part of a file's name on any system. */
const toFilePart = (title: string): string => toSafeFileName(title.replace(/[/\\:*?"<>|]/g, '_').slice(0, MAX_TITLE_CHARS)).trim();

const toText = (path: string, content: string): ArchiveEntry => ({ path, encoding: 'utf8', content });
const toJson = (path: string, value: unknown): ArchiveEntry => toText(path, `${JSON.stringify(value, null, 2)}\n`);

/** A part of an export. The parts are the settings, then each chat in both formats, then each file. Throws `NOT_FOUND`. */
export async function exportProject(
  projectId: string,
  cursor: string | undefined,
  deps: ProjectTransferDeps,
): Promise<{ filename: string; entries: ArchiveEntry[]; cursor: string | null }> {
  const { vault, projects } = deps;
  const project = await projects.get(projectId);
  const sessions = (await projects.listChats(projectId)).sort((a, b) => a.createdAt - b.createdAt || (a.key < b.key ? -1 : 1));
  // Memories have a file of their own.
  const files = (await vault.files.list(project.workspace, '')).filter(({ path }) => path !== LONG_TERM_FILE);
  const chats = sessions.flatMap((session, index) => {
    const name = `chats/${String(index + 1).padStart(3, '0')} ${toFilePart(session.title)}`;
    return (['jsonl', 'markdown'] as const).map((format) => ({ session, format, path: `${name}.${format === 'jsonl' ? 'jsonl' : 'md'}` }));
  });
  const [first = '0', ...rest] = (cursor ?? '0').split(' ');
  let messageId = rest.length > 0 ? rest.join(' ') : undefined;
  const entries: ArchiveEntry[] = [];
  let chars = 0;
  let index = Number(first);
  for (; index <= chats.length + files.length && chars < MAX_EXPORT_CHARS; index++) {
    const chat = chats[index - 1];
    const file = files[index - 1 - chats.length];
    if (index === 0) entries.push(...(await exportSettings(project, chats, deps)));
    else if (chat) {
      const part = exportChat(chat.session, await vault.messages.listAll(chat.session.key), chat.format, { cursor: messageId });
      entries.push(toText(chat.path, part.content));
      messageId = part.cursor ?? undefined;
    } else if (file) {
      const record = await vault.files.get(project.workspace, file.path);
      if (record) entries.push({ path: `${FILES}${file.path}`, encoding: record.encoding, content: record.content });
    }
    chars += entries.at(-1)?.content.length ?? 0;
    // The rest of a long chat comes first in the next part.
    if (messageId !== undefined) break;
  }
  const isAtEnd = index > chats.length + files.length;
  return {
    filename: `${toFilePart(project.name)}.zip`,
    entries,
    cursor: isAtEnd ? null : messageId === undefined ? String(index) : `${index} ${messageId}`,
  };
}

async function exportSettings(
  project: Project,
  chats: readonly { session: SessionRecord; format: string; path: string }[],
  { vault, longTermMemories }: ProjectTransferDeps,
): Promise<ArchiveEntry[]> {
  const { id: projectId, name, model, parameters, agentId, agents, memory, archived, createdAt } = project;
  const collections = await Promise.all(
    project.collections.map(async (collectionId) => {
      const { name: title, description } = (await vault.collection('collections').get(collectionId)) ?? {};
      return { id: collectionId, name: title, description };
    }),
  );
  const memories = await (await longTermMemories.load()).listIn(project.workspace);
  return [
    toJson(MANIFEST, {
      ...{ format: 'perch-project', id: projectId, name, model, parameters, agentId, agents },
      collections,
      ...{ memory, archived, createdAt },
      chats: chats
        .filter(({ format }) => format === 'jsonl')
        .map(({ path, session: { agentId: chatAgentId, sessionId, title, pinned, archived: isArchived, tags } }) => ({
          ...{ path, agentId: chatAgentId, sessionId, title, pinned, archived: isArchived, tags },
        })),
    }),
    ...(project.instructions === '' ? [] : [toText(INSTRUCTIONS, project.instructions)]),
    ...(memories.length === 0
      ? []
      : [
          toJson(
            MEMORIES,
            memories.map(({ text, category, createdAt: at }) => ({ text, category, createdAt: at })),
          ),
        ]),
  ];
}

/** Imports files of an exported project. What exists already stays. Throws `INVALID_PARAMS` if they are not such files. */
export async function importProject(
  parts: readonly ArchiveEntry[],
  deps: ProjectTransferDeps,
): Promise<{ project: Project; added: { projects: number; chats: number; files: number; memories: number } }> {
  const entries = joinParts(parts);
  const settings = parseJson(manifest, MANIFEST, entries);
  if (!settings) throw new RpcError('INVALID_PARAMS', 'These files are not an exported project: project.json is missing.');
  const memories = parseJson(memoryList, MEMORIES, entries) ?? [];
  const source = toSource('import', settings.name);
  const record = await toRecord(settings, entries.get(INSTRUCTIONS)?.content.slice(0, 20_000) ?? '', source, deps);
  // Read before anything is stored, so that an invalid chat imports nothing.
  const chats = await readChats(settings, entries, deps);
  const projects = (await deps.projects.add(record)) ? 1 : 0;
  const workspace = getProjectWorkspace(record);
  const added = { projects, chats: 0, files: 0, memories: 0 };
  for (const { session, messages } of chats) {
    if (!(await deps.vault.sessions.add(session, copyMessages(messages, session)))) continue;
    added.chats++;
    deps.hub.emit(createSessionChangedEvent(session.key), session.key);
  }
  for (const [path, { encoding, content }] of entries) {
    if (!path.startsWith(FILES)) continue;
    const { data: name } = workspacePath.safeParse(path.slice(FILES.length));
    if (name === undefined || name === LONG_TERM_FILE || (await deps.vault.files.get(workspace, name))) continue;
    await deps.labels.add('file', `${workspace}/${name}`, [source]);
    await (await deps.agentToolkit.load()).workspaces.write(workspace, { path: name, content, encoding });
    added.files++;
  }
  for (const { text, category, createdAt } of memories) {
    await labelMemory(deps, workspace, text, [source]);
    const memory = await (await deps.memories.load()).openWorkspace(workspace);
    if ((await memory.addMemory(text, isCategory(category) ? category : 'other', createdAt)).added) added.memories++;
  }
  if (added.chats > 0) deps.hub.emit({ event: 'project.changed', payload: { id: record.id } }, null);
  return { project: await deps.projects.get(record.id), added };
}

/** The record of an imported project; agents and a model that do not exist here are left out. */
async function toRecord(
  { id: projectId, name, model, parameters, agentId, agents, collections, memory, archived, createdAt }: z.infer<typeof manifest>,
  instructions: string,
  source: string,
  deps: ProjectTransferDeps,
): Promise<ProjectRecord> {
  const now = deps.clock.now();
  const known = new Set(deps.agents.list().map((agent) => agent.id));
  const isKnownModel =
    model !== null &&
    (await deps.models.resolve(model).then(
      () => true,
      () => false,
    ));
  return {
    ...createProject(projectId, name, now),
    ...{ instructions, parameters, memory, archived, createdAt: Math.min(now, createdAt || now) },
    model: isKnownModel ? model : null,
    agentId: agentId !== null && known.has(agentId) ? agentId : null,
    agents: agents.filter((each) => known.has(each)),
    collections: collections.map((collection) => collection.id),
    ...(instructions === '' ? {} : { outside: [source] }),
  };
}

/** The chats among the files that are not in the vault. A chat whose key another chat has gets a second one, the same at each import. */
async function readChats(
  settings: z.infer<typeof manifest>,
  entries: ReadonlyMap<string, ArchiveEntry>,
  { vault, agents, clock }: ProjectTransferDeps,
): Promise<ReturnType<typeof readImportedChat>[]> {
  const known = new Set(agents.list().map((agent) => agent.id));
  const chats: ReturnType<typeof readImportedChat>[] = [];
  for (const { path, agentId: exportedAgentId, sessionId, title, pinned, archived, tags } of settings.chats) {
    const content = entries.get(path)?.content;
    if (content === undefined || content.trim() === '') continue;
    const agentId = known.has(exportedAgentId) ? exportedAgentId : MAIN_AGENT_ID;
    const read = (sessionIdHere: string) => readImportedChat({ content, title, agentId, sessionId: sessionIdHere }, clock.now());
    let chat = read(sessionId);
    const existing = await vault.sessions.get(chat.session.key);
    if (existing) {
      const [first] = chat.messages;
      const isSame = existing.projectId === settings.id || (first && (await vault.messages.get(first.id))?.sessionKey === existing.key);
      if (isSame) continue;
      chat = read(`${sessionId.slice(0, 90)}-${settings.id.slice(0, 36)}`);
      if (await vault.sessions.get(toSessionKey(agentId, chat.session.sessionId))) continue;
    }
    chats.push({ messages: chat.messages, session: { ...chat.session, pinned, archived, tags, projectId: settings.id } });
  }
  return chats;
}

/** Joins the parts of each file. */
function joinParts(parts: readonly ArchiveEntry[]): Map<string, ArchiveEntry> {
  const entries = new Map<string, ArchiveEntry>();
  for (const part of parts) {
    const before = entries.get(part.path);
    entries.set(part.path, before ? { ...before, content: before.content + part.content } : part);
  }
  return entries;
}

function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
  entries: ReadonlyMap<string, ArchiveEntry>,
): z.infer<Schema> | undefined {
  const entry = entries.get(path);
  if (!entry) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(entry.content);
  } catch {
    throw new RpcError('INVALID_PARAMS', `${path} is not valid JSON.`);
  }
  const { data, error } = schema.safeParse(value);
  if (error) throw new RpcError('INVALID_PARAMS', `${path} is not that of an exported project: ${formatIssue(error.issues[0], 'it')}`);
  return data;
}
