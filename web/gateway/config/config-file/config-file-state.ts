import type { ConfigFileState } from '#shared/rpc/methods/config-contracts.ts';
import type { Loadable } from '../../system/modules.ts';
import type { ConfigFile } from './config-file.ts';

/** State of the configuration file; `off` until a bridge provides one. */
export const getConfigFileState = ({ loaded }: Pick<Loadable<Pick<ConfigFile, 'state'>>, 'loaded'>): ConfigFileState =>
  loaded?.state ?? { state: 'off', path: null, problem: null };
