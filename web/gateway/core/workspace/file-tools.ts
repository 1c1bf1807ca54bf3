import { RpcError } from '#shared/rpc/errors.ts';
import { workspacePath } from '#shared/rpc/methods/workspace.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Agent } from '../agents.ts';
import { workspaceOf } from '../agents.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolContext } from '../tools/registry.ts';
import { base64Of, bytesOf } from './content.ts';
import { isGeneric, mediaType } from './media-type.ts';
import { pageOf } from './text-page.ts';
import type { Workspaces } from './workspaces.ts';

const MAX_LISTED = 500;
const MAX_PAGE = 50_000;

const path = workspacePath.describe('The file, such as notes/today.md');

/** Where skills lie, of which every later run is told. */
const SKILLS = 'skills/';

export interface FileToolsDeps {
  workspaces: Workspaces;
  agent(id: string): Agent;
}

/** The tools for files. They reach the agent's own workspace, and nothing outside Perch. */
export function fileTools({ workspaces, agent }: FileToolsDeps): Tool[] {
  const own = ({ agentId }: ToolContext): string => workspaceOf(agent(agentId));
  return [
    defineTool({
      name: 'file_list',
      description: 'Lists the files of your workspace, or those under a folder.',
      source: 'core',
      params: z.strictObject({ under: workspacePath.optional().describe('A folder, such as notes') }),
      async run({ under }, context) {
        const files = await workspaces.list(own(context), under);
        const shown = files.slice(0, MAX_LISTED).map(({ path: name, mimeType, size, modifiedAt }) => {
          return { path: name, mimeType, size, modifiedAt: new Date(modifiedAt).toISOString() };
        });
        return {
          files: shown,
          count: files.length,
          ...(files.length > shown.length ? { note: 'More than are shown: list a folder' } : {}),
        };
      },
    }),
    defineTool({
      name: 'file_read',
      description: 'Reads a text file of your workspace, a page at a time: go on at nextOffset where it is not null.',
      source: 'core',
      params: z.strictObject({
        path,
        offset: z.number().int().min(0).default(0).describe('Where to begin, in characters'),
        limit: z.number().int().min(1).max(MAX_PAGE).default(20_000).describe('Most characters'),
      }),
      async run({ path: name, offset, limit }, context) {
        const file = await workspaces.read(own(context), name);
        if (file.encoding !== 'utf8')
          throw new RpcError(
            'INVALID_PARAMS',
            `${name} (${file.mimeType}, ${file.size} bytes) is no text; send_file hands it to the person`,
          );
        return { path: name, ...pageOf(file.content, offset, limit) };
      },
    }),
    defineTool({
      name: 'file_write',
      description: 'Writes a text file of your workspace, in the place of what stood there.',
      source: 'core',
      params: z.strictObject({ path, content: z.string().describe('The whole text') }),
      // A page that has an agent write one would speak in all chats from then on.
      effect: ({ path: name }) => (name.startsWith(SKILLS) ? `Write ${name}, part of a skill that later chats are told of` : undefined),
      async run({ path: name, content }, context) {
        const { size, mimeType } = await workspaces.write(own(context), { path: name, content, encoding: 'utf8' });
        return { written: name, size, mimeType };
      },
    }),
    defineTool({
      name: 'file_remove',
      description: 'Removes a file of your workspace.',
      source: 'core',
      params: z.strictObject({ path }),
      effect: ({ path: name }) => `Remove the file ${name}`,
      check: ({ path: name }, context) => workspaces.read(own(context), name),
      async run({ path: name }, context) {
        await workspaces.remove(own(context), name);
        return { removed: name };
      },
    }),
    defineTool({
      name: 'send_file',
      description: 'Hands a file of your workspace to the person: it arrives with your reply in this chat.',
      source: 'core',
      params: z.strictObject({ path, note: z.string().trim().min(1).max(2000).optional().describe('A sentence to go with it') }),
      async run({ path: name, note }, context) {
        if (!context.send) throw new RpcError('INVALID_PARAMS', 'A file is sent into a chat, and this call is in none');
        const file = await workspaces.read(own(context), name);
        const filename = name.split('/').at(-1) ?? name;
        // A type that somebody gave, or an earlier build read off the name, stands where the content says nothing.
        const found = await mediaType(name, bytesOf(file));
        const mimeType = isGeneric(found) ? file.mimeType : found;
        context.send({ filename, mimeType, data: base64Of(file), size: file.size, note });
        return { sent: name, size: file.size };
      },
    }),
  ];
}
