import { isMcpServerName } from './mcp-server-name.ts';

/** The `tool` of an approval to open a place on this computer in the browser. */
export const BROWSER_PLACE = 'browser.open';

/** Whether an approval’s `tool` names a tool, for which a policy can be stored. */
export const hasPolicy = (tool: string): boolean => !isMcpServerName(tool) && tool !== BROWSER_PLACE;
