import { mcpContracts } from '#shared/rpc/methods/mcp-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import { defineMethods } from '../../system/methods.ts';
import type { McpServers } from './mcp-servers.ts';
import type { Lazy } from '../../system/modules.ts';

/** Waits until the current settings are applied, so that a server that was just added is found. */
export const mcpMethods = defineMethods(mcpContracts)(({ mcp }: { mcp: Lazy<McpServers> }) => {
  const ready = async (): Promise<McpServers> => {
    const servers = await mcp.load();
    await servers.refresh();
    return servers;
  };
  return {
    'mcp.list': async () => {
      const { servers, asks } = (await ready()).list();
      return { servers, asks, count: servers.length };
    },

    'mcp.restart': async ({ name }) => {
      await (await ready()).restart(name);
      return { ok: true };
    },

    'mcp.approve': async ({ name, hash }, caller) => {
      requirePerson(caller, 'approve an MCP server');
      await (await ready()).approve(name, hash);
      return { ok: true };
    },

    'mcp.authorize': async ({ name }, caller) => {
      requirePerson(caller, 'authorize an MCP server');
      return { url: await (await ready()).authorize(name) };
    },

    'mcp.logs': async ({ name }) => ({ text: await (await ready()).logs(name) }),

    'mcp.resources': async ({ name }) => {
      const resources = await (await ready()).resources(name);
      return { resources, count: resources.length };
    },

    'mcp.read': async ({ name, uri }) => {
      const { contents } = await (await ready()).read(name, uri);
      return { contents };
    },

    'mcp.prompts': async ({ name }) => {
      const prompts = await (await ready()).prompts(name);
      return { prompts, count: prompts.length };
    },

    'mcp.prompt': async ({ name, prompt, arguments: args }) => {
      const { description, messages } = await (await ready()).getPrompt(name, prompt, args);
      return { messages: messages.map(({ role, content }) => ({ role, content })), ...(description === undefined ? {} : { description }) };
    },

    'mcp.answer': async ({ id, ...answer }, caller) => {
      requirePerson(caller, 'answer an MCP server');
      (await ready()).answerQuestion(id, answer);
      return { ok: true };
    },
  };
});
