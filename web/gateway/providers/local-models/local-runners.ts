import type { LocalModel } from '#shared/ports/local-model.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { createBridgeRunner } from '../bridge-model-runner.ts';
import type { LocalRunner } from '../local-runner.ts';
import type { BrowserModels } from './browser-models.ts';

/** Runners of local models. */
export const createLocalRunners = (bridge: Bridge, browserModels: BrowserModels): Record<LocalModel['backend'], LocalRunner> => ({
  gguf: createBridgeRunner(bridge, 'gguf'),
  mlx: createBridgeRunner(bridge, 'mlx'),
  browser: browserModels,
});
