import type { Guard } from './guard.ts';

const PROXY = { file: 'bridge/capabilities/browser/guarded-proxy.ts', test: 'bridge/capabilities/browser/guarded-proxy.test.ts' };
const DRIVEN = { file: 'bridge/capabilities/browser/driven-browser.ts', test: 'tests/e2e/driven-browser.test.ts' };
const SENDERS = { file: 'web/gateway/automation/channels/senders.ts', test: 'web/gateway/automation/channels/channel-senders.test.ts' };
const GRANTS = 'web/gateway/agent/trust/run-taint.test.ts';

/** Guards of the driven browser, of callers and senders, of a job's grants, and of the terminal. */
export const REACH_GUARDS: readonly Guard[] = [
  // The driven browser. Some of its tests start one.
  {
    name: 'Driven browser: pages',
    ...PROXY,
    find: 'if (refusal !== undefined) return refused(refusal);',
    replace: '',
    only: 'private addresses are refused',
  },
  {
    name: 'Driven browser: tunnels',
    ...PROXY,
    find: 'if (!target || refusal !== undefined) return refuseTunnel(client, refusal ??',
    replace: 'if (!target) return refuseTunnel(client, refusal ??',
    only: 'private addresses are refused',
  },
  {
    name: 'Driven browser: what names resolve to',
    ...PROXY,
    find: "pinnedLookup(resolve, 'public', () => allowed.has(target));",
    replace: "pinnedLookup(resolve, 'local', () => allowed.has(target));",
    only: 'private addresses are refused',
  },
  {
    name: 'Driven browser: places that are not allowed any more',
    ...PROXY,
    find: 'if (!allowed().has(target)) connection.destroy();',
    replace: '{}',
    only: 'is not allowed any more',
  },
  { name: 'Driven browser: no way beside the proxy', ...DRIVEN, find: 'proxy: { server: proxy },', replace: '', only: 'browser/guard' },
  {
    name: 'Driven browser: WebRTC',
    ...DRIVEN,
    find: "  '--webrtc-ip-handling-policy=disable_non_proxied_udp',\n",
    replace: "  '--webrtc-ip-handling-policy=default',\n",
    only: 'WebRTC',
  },

  // Callers
  {
    // Origins that are not listed are refused before, by the guards of `Origin`.
    name: 'CORS: the origin that asks, and no other',
    file: 'bridge/server/api-listener.ts',
    find: "response.setHeader('access-control-allow-origin', origin);",
    replace: "response.setHeader('access-control-allow-origin', '*');",
    test: 'bridge/server/admission.test.ts',
    only: 'http/cors',
  },
  {
    name: 'Origins are listed exactly',
    file: 'bridge/server/admission.ts',
    find: 'if (origin === undefined || this.#origins.has(origin)) return undefined;',
    replace: 'if (origin === undefined || [...this.#origins].some((each) => origin.startsWith(each))) return undefined;',
    test: 'bridge/server/admission.test.ts',
  },
  {
    name: 'Reachable from elsewhere only with --expose',
    file: 'bridge/server/start-bridge.ts',
    find: 'if (!isLoopbackBind(bind) && !expose) {',
    replace: 'if (false) {',
    test: 'bridge/server/start-bridge.test.ts',
    only: 'or that others reach',
  },
  {
    name: 'Commands of MCP servers are approved',
    file: 'bridge/capabilities/mcp/mcp-handlers.ts',
    find: "throw new RpcError('AUTH_REQUIRED', `${server.command} can’t be started",
    replace: "void new RpcError('AUTH_REQUIRED', `${server.command} can’t be started",
    test: 'bridge/capabilities/mcp/mcp-handlers.test.ts',
    only: 'starts nothing that is not approved',
  },

  // Senders of channels
  {
    name: 'Pairing codes: they end',
    ...SENDERS,
    find: 'requests.filter(({ expiresAt }) => expiresAt > now);',
    replace: 'requests.filter(() => now > 0);',
    only: 'ends after an hour',
  },
  {
    name: 'Pairing codes: a person confirms',
    file: 'web/gateway/automation/channels/channel-methods.ts',
    find: "requirePerson(caller, 'confirm a sender');",
    replace: 'void caller;',
    test: SENDERS.test,
    only: 'no program confirms one',
  },
  {
    name: 'Pairing codes: the right one',
    ...SENDERS,
    find: '.find(({ codeHash }) => isEqualConstantTime(codeHash, hash));',
    replace: ".find(({ codeHash }) => codeHash !== '' && hash !== '');",
    only: 'few wrong tries',
  },
  { name: 'Pairing codes: tries', ...SENDERS, find: 'if (wait > 0)', replace: 'if (false)', only: 'few wrong tries' },
  { name: 'Pairing codes: twenty at a time', ...SENDERS, find: ' || userIds.size >= MAX_CODES', replace: '', only: 'twenty at a time' },

  // Grants
  {
    name: 'Grants of jobs: protected files',
    file: 'web/gateway/agent/trust/run-taint.ts',
    find: 'if (paths === undefined) return !isProtectedPath(path);',
    replace: 'if (paths === undefined) return true;',
    test: GRANTS,
  },
  {
    name: 'Grants of jobs: the folder that is named',
    file: 'web/gateway/agent/trust/run-taint.ts',
    find: "(allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed)",
    replace: 'path.startsWith(allowed)',
    test: GRANTS,
  },
  {
    name: 'Grants of jobs: commands by name alone',
    file: 'web/gateway/agent/trust/run-taint.ts',
    find: 'if (!isNamed && (NAMED_ONLY.test(tool) || ',
    replace: 'if (!isNamed && (',
    test: GRANTS,
  },
  {
    name: 'Grants of the settings: protected files',
    file: 'web/gateway/agent/tools/tool-registry.ts',
    find: '(path === undefined || !isProtectedPath(path)) && ',
    replace: '',
    test: GRANTS,
  },
  {
    name: 'Instructions are never only added to',
    file: 'web/gateway/agent/workspace/file-tools.ts',
    find: 'if (isInstructionsPath(name) ||',
    replace: 'if (',
    test: 'web/gateway/agent/trust/taint.test.ts',
    only: 'waits for approval before each change',
  },

  // The terminal
  {
    name: 'Control characters in printed replies',
    file: 'bridge/cli/reply-printer.ts',
    find: 'this.#raw ? piece : escapeControls(piece)',
    replace: 'piece',
    test: 'bridge/cli/chat-actions.test.ts',
    only: 'cli/escape',
  },
  {
    name: 'Control characters in printed JSON',
    file: 'bridge/cli/call-method.ts',
    find: 'raw ? JSON.stringify(payload, null, indent) : toPrintableJson(payload, indent)',
    replace: 'JSON.stringify(payload, null, indent)',
    test: 'bridge/cli/status-actions.test.ts',
    only: 'cli/escape',
  },
  {
    name: 'Control characters in exported chats',
    file: 'bridge/cli/sessions-actions.ts',
    find: "raw ? part.content : format === 'jsonl' ? escapeJson(part.content) : escapeControls(part.content)",
    replace: 'part.content',
    test: 'bridge/cli/sessions-actions.test.ts',
    only: 'cli/escape',
  },
  {
    name: 'Direction marks in texts of others',
    file: 'shared/printable.ts',
    find: '[\\p{C}\\p{Zl}\\p{Zp}]/gu',
    replace: '[\\p{Cc}]/gu',
    test: 'bridge/cli/terminal-output.test.ts',
    only: 'cli/escape',
  },
];
