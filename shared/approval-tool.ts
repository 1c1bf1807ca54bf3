import { isMcpServerApproval } from './mcp-server-approval.ts';

/** The `tool` of an approval to open a place on this computer in the browser. */
export const BROWSER_OPEN_TOOL = 'browser.open';

/** Whether an approval’s `tool` names a tool, for which a policy can be stored. */
export const hasPolicy = (tool: string): boolean => !isMcpServerApproval(tool) && tool !== BROWSER_OPEN_TOOL;
