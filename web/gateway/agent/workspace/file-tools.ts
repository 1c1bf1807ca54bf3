import { toSafeFileName } from '#shared/file-name.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { workspacePath } from '#shared/rpc/workspace-file.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Agent } from '../agents.ts';
import { getFilesWorkspace } from '../projects/chat-workspaces.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Impact, Tool, ToolContext } from '../tools/tool-registry.ts';
import { type ContentLabels, getLabelSources } from '../trust/content-labels.ts';
import { getFileSources, labelNewMemories } from '../trust/file-sources.ts';
import { toBase64Content, toBytes } from './file-content.ts';
import { foldPath } from './fold-path.ts';
import { isGeneric, detectMediaType } from './media-type.ts';
import { getScopeForPath } from './path-scope.ts';
import { isInstructionsPath, isRecordsPath } from './protected-paths.ts';
import { getTextPage } from './text-page.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { FileVersions } from './file-versions.ts';
import type { Workspaces } from './workspaces.ts';

const MAX_LISTED = 500;
const MAX_PAGE_CHARS = 50_000;

const path = workspacePath.describe('File path, such as notes/today.md');

const SKILLS_PATH = /^skills(\/|$)/;

interface FileToolsDeps {
  vault: { files: Pick<Vault['files'], 'get' | 'list'> };
  workspaces: Workspaces;
  versions: FileVersions;
  labels: ContentLabels;
  agent(id: string): Agent;
}

/** Tools for files. They access the workspace of the chat's project, or else the agent's own, only. */
export function fileTools({ vault, workspaces, versions, labels, agent }: FileToolsDeps): Tool[] {
  const getOwnWorkspace = ({ agentId, project }: ToolContext): string => getFilesWorkspace(agent(agentId), project);
  /** A new file that is no instruction and no record can wait for review; any other write takes effect at once. */
  const getWriteImpact = async (name: string, context: ToolContext): Promise<Impact> => {
    if (isInstructionsPath(name) || isRecordsPath(name)) return 'changes';
    const files = await workspaces.list(getOwnWorkspace(context));
    return files.some(({ path: known }) => foldPath(known) === foldPath(name)) ? 'changes' : 'adds';
  };
  return [
    defineTool({
      name: 'file_list',
      title: 'List files',
      summary: 'Lists the files in the agent’s workspace.',
      description: 'Lists the files in your workspace, or in one of its folders.',
      source: 'core',
      scope: 'files',
      params: z.strictObject({
        under: workspacePath.optional().describe('A folder, such as notes'),
        unreviewed: z.boolean().default(false).describe('Also list files that were written after reading from outside'),
      }),
      impact: 'reads',
      async run({ under, unreviewed }, context) {
        const workspace = getOwnWorkspace(context);
        const all = await workspaces.list(workspace, under);
        const labelled = await labels.list('file', `${workspace}/`);
        const isLabelled = ({ path: name }: { path: string }): boolean => labelled.has(`${workspace}/${name}`);
        // A file name is content too: listing it taints the run.
        const isHiding = !unreviewed && context.taint?.isTainted === false;
        const files = isHiding ? all.filter((file) => !isLabelled(file)) : all;
        context.taint?.add(files.flatMap(({ path: name }) => labelled.get(`${workspace}/${name}`) ?? []));
        const listed = files.slice(0, MAX_LISTED).map(({ path: name, mimeType, size, modifiedAt }) => {
          return { path: name, mimeType, size, modifiedAt: new Date(modifiedAt).toISOString() };
        });
        return {
          files: listed,
          count: files.length,
          ...(files.length > listed.length ? { note: 'Not all files are shown. List a folder.' } : {}),
          ...(all.length > files.length ? { unreviewed: all.length - files.length } : {}),
        };
      },
    }),
    defineTool({
      name: 'file_read',
      title: 'Read file',
      summary: 'Reads a text file from the agent’s workspace.',
      description: 'Reads a text file from your workspace. If nextOffset is not null, continue there.',
      source: 'core',
      scope: 'files',
      params: z.strictObject({
        path,
        offset: z.number().int().min(0).default(0).describe('Character to start at'),
        limit: z.number().int().min(1).max(MAX_PAGE_CHARS).default(20_000).describe('Maximum characters'),
      }),
      impact: 'reads',
      async run({ path: name, offset, limit }, context) {
        const file = await workspaces.read(getOwnWorkspace(context), name);
        const sources = await getFileSources(labels, getOwnWorkspace(context), name, file);
        context.taint?.add(sources);
        if (file.encoding !== 'utf8')
          throw new RpcError(
            'INVALID_PARAMS',
            `${name} (${file.mimeType}, ${file.size} bytes) is not a text file. Use send_file to send it to the user.`,
          );
        if (sources.length === 0) context.taint?.addText(file.content);
        return { path: name, ...getTextPage(file.content, offset, limit) };
      },
    }),
    defineTool({
      name: 'file_write',
      title: 'Write file',
      summary: 'Creates or replaces a text file in the agent’s workspace.',
      description: 'Writes a text file in your workspace, replacing its content.',
      source: 'core',
      scope: 'files',
      scopeFor: ({ path: name }) => getScopeForPath(name),
      params: z.strictObject({ path, content: z.string().describe('The full text') }),
      asksWhen: 'Asks before it writes a file of a skill.',
      // A skill affects all later chats, so a web page must not get one written unnoticed.
      effect: ({ path: name }) =>
        SKILLS_PATH.test(foldPath(name)) ? `Write ${name}, part of a skill that later chats can use` : undefined,
      impact: ({ path: name }, context) => getWriteImpact(name, context),
      async run({ path: name, content }, context) {
        const sources = getLabelSources(context);
        const replaced = await versions.save(getOwnWorkspace(context), name, context.toolCallId);
        await labelNewMemories({ vault, labels }, getOwnWorkspace(context), { path: name, content, encoding: 'utf8' }, sources);
        await labels.add('file', `${getOwnWorkspace(context)}/${name}`, sources, context.taint?.findQuotedUrls(content));
        const { size, mimeType } = await workspaces.write(getOwnWorkspace(context), { path: name, content, encoding: 'utf8' });
        // The new content replaces the labelled one.
        if (sources.length === 0) await labels.remove('file', `${getOwnWorkspace(context)}/${name}`);
        return { written: name, size, mimeType, ...(replaced ? { replaced } : {}) };
      },
    }),
    defineTool({
      name: 'file_remove',
      title: 'Delete file',
      summary: 'Deletes a file from the agent’s workspace.',
      description: 'Deletes a file in your workspace.',
      source: 'core',
      scope: 'files',
      scopeFor: ({ path: name }) => getScopeForPath(name),
      params: z.strictObject({ path }),
      effect: ({ path: name }) => `Delete the file ${name}`,
      check: ({ path: name }, context) => workspaces.read(getOwnWorkspace(context), name),
      async run({ path: name }, context) {
        await versions.save(getOwnWorkspace(context), name, context.toolCallId);
        await workspaces.remove(getOwnWorkspace(context), name);
        await labels.remove('file', `${getOwnWorkspace(context)}/${name}`);
        return { removed: name };
      },
    }),
    defineTool({
      name: 'send_file',
      title: 'Send file',
      summary: 'Sends you a file from the agent’s workspace.',
      description: 'Sends a file from your workspace to the user, with your reply in this chat.',
      source: 'core',
      scope: 'files',
      params: z.strictObject({ path, note: z.string().trim().min(1).max(2000).optional().describe('A sentence about the file') }),
      async run({ path: name, note }, context) {
        if (!context.send) throw new RpcError('INVALID_PARAMS', 'Files can only be sent in a chat.');
        const file = await workspaces.read(getOwnWorkspace(context), name);
        const filename = toSafeFileName(name.split('/').at(-1) ?? name);
        // If the content is ambiguous, the stored type counts: set by a caller, or derived from the name by an earlier version.
        const found = await detectMediaType(name, toBytes(file));
        const mimeType = isGeneric(found) ? file.mimeType : found;
        context.send({ filename, mimeType, data: toBase64Content(file), size: file.size, note });
        return { sent: name, size: file.size };
      },
    }),
  ];
}
