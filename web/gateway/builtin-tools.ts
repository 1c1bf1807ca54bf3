import { createExecTool } from './agent/exec/exec-tool.ts';
import { coreTools } from './agent/tools/core-tools.ts';
import { cronTools } from './automation/cron/cron-tools.ts';
import { officeTools } from './agent/tools/office-tools.ts';
import type { Tool } from './agent/tools/tool-registry.ts';
import { webTools } from './agent/tools/web-tools.ts';

export type BuiltinToolsDeps = Parameters<typeof coreTools>[0] &
  Parameters<typeof officeTools>[0] &
  Parameters<typeof webTools>[0] &
  Parameters<typeof createExecTool>[0] & { cron: Parameters<typeof cronTools>[0] };

/** Tools that do not belong to another module. */
export const createBuiltinTools = (deps: BuiltinToolsDeps): Tool[] => [
  ...coreTools(deps),
  ...cronTools(deps.cron),
  ...officeTools(deps),
  ...webTools(deps),
  createExecTool(deps),
];
