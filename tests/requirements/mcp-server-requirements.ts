import { chosenSection } from './requirement.ts';

/** The gateway as a server of the Model Context Protocol. */
export const mcpServer = [
  chosenSection('the Model Context Protocol, 2025-11-25 and 2026-07-28', {
    'mcp-server/serves':
      'Any client gets the tools of an agent at `/mcp`, or `/mcp/<agentId>`, over Streamable HTTP, in sessions of the earlier revisions and without.',
    'mcp-server/approvals': 'What has an effect waits for a person, as in a chat; a client never approves.',
    'mcp-server/resources': 'The files of the agent’s workspace are resources.',
    'mcp-server/templates':
      'Files, wiki pages and chats have resource templates whose variable is completed; a key gets those that its scopes allow.',
    'mcp-server/prompts':
      'Saved prompts, for keys with `files`, and skills that users may call are prompts; unreviewed ones from outside are left out.',
    'mcp-server/outside': 'Resources with content from outside name its sources in `_meta["perch/outside"]`.',
    'mcp-server/sdk-1': 'Clients on `@modelcontextprotocol/sdk` 1.x work unchanged over Streamable HTTP.',
    'mcp-server/conformance': 'The official conformance suite finds nothing to say of what every server has.',
    'mcp-server/callers': 'It is for whoever may write, by token, key or device, and keys keep their limits.',
  }),
];
