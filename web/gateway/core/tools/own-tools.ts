import { execTool } from '../exec/tool.ts';
import { coreTools } from './core-tools.ts';
import { cronTools } from './cron-tools.ts';
import { officeTools } from './office-tools.ts';
import type { Tool } from './registry.ts';
import { webTools } from './web-tools.ts';

export type OwnToolsDeps = Parameters<typeof coreTools>[0] &
  Parameters<typeof officeTools>[0] &
  Parameters<typeof webTools>[0] &
  Parameters<typeof execTool>[0] & { cron: Parameters<typeof cronTools>[0] };

/** Tools that do not belong to another module. */
export const ownTools = (deps: OwnToolsDeps): Tool[] => [
  ...coreTools(deps),
  ...cronTools(deps.cron),
  ...officeTools(deps),
  ...webTools(deps),
  execTool(deps),
];
