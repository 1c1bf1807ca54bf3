import { chosenSection, specifiedSection } from './requirement.ts';

/** Tool servers: the client side of the Model Context Protocol. */
export const mcp = [
  specifiedSection('interface 2, sections 2.1, 3 and 8', {
    'mcp/stdio': '`tools.mcpServers` with `command` and `args`: the tools of a local process are in the pool as `mcp:<server>:<tool>`.',
    'mcp/transports':
      '`url` and `headers`: a server over HTTP, streamed, or in the earlier form where `transport` is `sse`; its headers go to its own origin alone.',
  }),
  chosenSection('decisions, "Cron, tools, exec, plans"', {
    'mcp/names': 'Models see `mcp__<server>__<tool>`, at most 64 characters; what collides gets another name, and that is told.',
    'mcp/approved-command':
      'A command that a person has typed into the file starts; one set through a call waits for an approval of exactly it, with arguments, environment and directory. The bridge keeps the approvals.',
  }),
  specifiedSection('interface 2, sections 3 and 8', {
    'mcp/poll': 'A change of `tools.mcpServers` is noticed within 5 s: old connections are closed, the new configuration is connected.',
  }),
  chosenSection('docs/decisions/0024-tool-servers.md', {
    'mcp/settings':
      'An entry has `command` (with `args`, `env`, `cwd`) or `url` (with `headers`, `transport`); anything else is refused with its reason.',
    'mcp/secrets': 'Values of `env` and `headers` are secrets; headers are not sent to another address without being given again.',
    'mcp/sdk-1': 'Servers on `@modelcontextprotocol/sdk` 1.x work over stdio, Streamable HTTP and the older server-sent events.',
    'mcp/results':
      'Text, pictures, sound, links, files and structured data of a tool are told to the model as data from outside; files go along with the reply.',
    'mcp/errors': 'A tool that fails, a server that refuses, does not answer in its time or dies: the model is told in a sentence.',
    'mcp/cancel': 'An aborted call is told to the server (`notifications/cancelled`).',
    'mcp/asks-first': 'Every tool of a tool server waits for a person’s word, unless its policy says otherwise.',
    'mcp/progress': 'Progress of a call is told as `mcp.progress`.',
    'mcp/restarted': 'A server that dies is started again, after twice as long each time; it is back when the bridge is.',
    'mcp/hand-over':
      'When another host takes over, calls that are under way come to their end where they began; then the connection is closed.',
    'mcp/changed-tool': 'A tool whose description or schema has changed is off until a person approves it again; an approval asks.',
    'mcp/requests':
      'Forms that a server asks for are shown to a person, who alone answers; it asks models after their word; roots are the folder that it works in; resources and prompts can be listed and read.',
    'mcp/app':
      'In the app a tool server is added, approved as exactly the command that is shown, switched off and removed; forms that it asks for are shown in the chat and filled in there.',
    'mcp/hostile':
      'Servers that never answer, flood, lie about the protocol, send huge lines or die: a clear error, the bridge and the gateway alive, nothing left running.',
    'mcp/lines':
      'The bridge reads no more of a server than the gateway takes, 5,000 lines in a second at the most, and no line of more than 4 MiB.',
    'mcp/conformance':
      'The official conformance suite’s scenarios for clients, authorization included, but for those of extensions and two that a test names with their reasons.',
    'mcp/tree': 'All processes that a server started end with it.',
  }),
  chosenSection('docs/decisions/0025-oauth.md', {
    'mcp-oauth/authorize':
      'A server over HTTP that wants permission is `unauthorized` until a person has followed the link of `mcp.authorize`; then it is connected, and after a restart too.',
    'mcp-oauth/person': 'Only a person asks for such a link, and for servers that want none it is an error that says so.',
    'mcp-oauth/renewed':
      'Tokens are renewed without a word, once for all that wait; those that are void end in `unauthorized`, all other failures are tried again.',
    'mcp-oauth/more': 'A tool that wants more permission fails with that word, `mcp.list` names it, and the next link asks for it too.',
    'mcp-oauth/kept':
      'Tokens and registrations are sealed in the vault, shown nowhere, and gone when the server is, or its address changes.',
    'mcp-oauth/hostile':
      'Whatever documents, tokens and issuers a server names: a sentence, nothing sent to where it must not go, what was permitted before untouched.',
    'mcp-oauth/named':
      'Addresses that a server names get none of its headers, and are its own, on the public internet, or near it where the server itself is.',
    'mcp-oauth/command': '`perch mcp authorize <name>` prints the link.',
  }),
  specifiedSection('interface 2, section 4.1', {
    'cli.mcp-status/row': '`perch mcp status` shows the status of the tool servers.',
    'cli.mcp-list-tools/row': '`perch mcp list-tools` lists the tools of all tool servers.',
  }),
];
