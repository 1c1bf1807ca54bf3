import { createExecTool } from '../exec/exec-tool.ts';
import { coreTools } from './core-tools.ts';
import { officeTools } from './office-tools.ts';
import type { Tool } from './tool-registry.ts';
import { webTools } from './web-tools.ts';

export type BuiltinToolsDeps = Parameters<typeof coreTools>[0] &
  Parameters<typeof officeTools>[0] &
  Parameters<typeof webTools>[0] &
  Parameters<typeof createExecTool>[0];

/** Tools that do not belong to another module. */
export const createBuiltinTools = (deps: BuiltinToolsDeps): Tool[] => [
  ...coreTools(deps),
  ...officeTools(deps),
  ...webTools(deps),
  createExecTool(deps),
];
