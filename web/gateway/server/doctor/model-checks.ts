import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type HealthCheck, type DoctorDeps, reportOk, type Finding, reportProblem } from './doctor-deps.ts';

const SETTINGS_HINT = 'Check the provider in Models.';

/** Checks of configured providers and of the models in use. */
export function modelChecks({ providers, config }: DoctorDeps): HealthCheck[] {
  const { settings } = config;
  let pendingStates: ReturnType<typeof providers.listStates> | undefined;
  // Shared by the checks, so one check's time limit does not abort it.
  const getStates = (): ReturnType<typeof providers.listStates> => (pendingStates ??= providers.listStates({ refresh: true }));
  const configured = Object.entries(settings.providers).filter(([, { enabled }]) => enabled !== false);
  const checkModel = async (key: string, label: string, hint: string): Promise<Finding> => {
    const all = await getStates();
    let route;
    try {
      route = await providers.resolve(key);
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== 'NOT_FOUND') throw error;
      return reportProblem(
        'error',
        `${label} is ${key}, which is not available. ${error.message}`,
        `${hint}, or add its provider in Models.`,
      );
    }
    const { id, name } = route.provider;
    const { state = 'ready' } = all.find((entry) => entry.id === id) ?? {};
    // Problems of the provider are reported by its own check.
    if (state !== 'ready')
      return reportProblem(
        'warning',
        `${label} is ${route.key}, but ${name} ${state === 'needs_key' ? 'needs an API key' : 'can’t be reached'}.`,
        SETTINGS_HINT,
      );
    const listed = (await providers.list()).filter(({ provider }) => provider === id);
    // Many servers accept models that they do not list.
    if (listed.length === 0 || listed.some((entry) => entry.key === route.key)) return reportOk(`${label} is ${route.key}.`);
    return reportProblem('warning', `${label} is ${route.key}, which is not in the model list of ${name}.`, `${hint}.`);
  };
  return [
    ...configured.map(([id, { name = id }]) => ({
      id: `provider:${id}`,
      title: `Provider ${name}`,
      async run() {
        const found = (await getStates()).find((entry) => entry.id === id);
        if (!found) return null;
        if (found.state === 'ready') return reportOk(`Connected. ${found.models === 1 ? '1 model' : `${found.models} models`} found.`);
        if (found.state === 'needs_key')
          return reportProblem('error', found.message ?? `${name} needs an API key.`, `Add the API key of ${name} in Models.`);
        return reportProblem('error', found.message ?? `Couldn’t reach ${name}.`, SETTINGS_HINT);
      },
    })),
    {
      id: 'default-model',
      title: 'Default model',
      run() {
        const key = settings.chat.model;
        if (key === undefined)
          return reportProblem(
            'info',
            'No default model is set. The built-in guide replies for agents without their own model.',
            'Choose a default model in Settings.',
          );
        return checkModel(key, 'The default model', 'Choose another default model in Settings');
      },
    },
    ...Object.entries(settings.agents).flatMap(([id, { model: key }]) =>
      key === undefined
        ? []
        : [
            {
              id: `agent-model:${id}`,
              title: `Model of ${id}`,
              run: () => checkModel(key, `The model of agent ${id}`, `Set another model in agents.${id}.model with \`config.set\``),
            },
          ],
    ),
  ];
}
