import { createReader, joinLines, type Preset } from './preset.ts';

/** Webhooks of Sentry's integrations (https://docs.sentry.io/organization/integrations/integration-platform/webhooks/). */
export const sentry: Preset = {
  summarize(headers, payload) {
    const read = createReader(payload);
    const resource = headers.get('sentry-hook-resource') ?? '';
    const action = read('$.action');
    const event = [resource, action].filter((part) => part !== '').join('.');
    const about = (...details: string[]): { event: string; message: string } => ({
      event,
      message: joinLines(`Sentry: ${resource.replaceAll('_', ' ')} ${action}`.trim(), ...details),
    });
    const data = resource === 'issue' ? '$.data.issue' : resource === 'error' ? '$.data.error' : '$.data.event';
    const project = read(`${data}.project.slug`) || read(`${data}.project`);
    return about(
      read(`${data}.title`) || read('$.data.description_title'),
      read(`${data}.culprit`),
      project === '' ? '' : `Project: ${project}`,
      read('$.data.triggered_rule') === '' ? '' : `Rule: ${read('$.data.triggered_rule')}`,
      read(`${data}.level`) === '' ? '' : `Level: ${read(`${data}.level`)}`,
      read(`${data}.web_url`) || read(`${data}.permalink`) || read('$.data.web_url'),
    );
  },
  sample: {
    headers: { 'sentry-hook-resource': 'issue' },
    payload: {
      action: 'created',
      data: {
        issue: {
          title: 'TypeError: x is not a function',
          culprit: 'app.js in render',
          level: 'error',
          project: { slug: 'web' },
          permalink: 'https://sentry.io/organizations/example/issues/1/',
        },
      },
    },
  },
};
