import { readJsonPath } from '../read-json-path.ts';
import { createReader, joinLines, type Preset, readExcerpt } from './preset.ts';

const MAX_COMMITS = 10;

/** Webhooks of GitLab (https://docs.gitlab.com/user/project/integrations/webhook_events/). */
export const gitlab: Preset = {
  summarize(headers, payload) {
    const read = createReader(payload);
    const kind =
      read('$.object_kind') ||
      (headers.get('x-gitlab-event') ?? '')
        .toLowerCase()
        .replace(/ hook$/, '')
        .replaceAll(' ', '_');
    const action = read('$.object_attributes.action');
    const event = action === '' ? kind : `${kind}.${action}`;
    const project = read('$.project.path_with_namespace');
    const user = read('$.user.username') || read('$.user_username');
    const id = headers.get('idempotency-key') ?? headers.get('x-gitlab-event-uuid') ?? '';
    const about = (subject: string, ...details: string[]): { event: string; message: string; id?: string } => ({
      event,
      message: joinLines(`GitLab: ${subject} in ${project}${user === '' ? '' : ` by ${user}`}`, ...details),
      ...(id === '' ? {} : { id }),
    });
    switch (kind) {
      case 'push':
      case 'tag_push': {
        const commits = readJsonPath(payload, '$.commits[*]').slice(0, MAX_COMMITS);
        return about(
          `push to ${read('$.ref').replace(/^refs\/(?:heads|tags)\//, '')}`,
          ...commits.map((commit) => `- ${createReader(commit)('$.id').slice(0, 8)} ${createReader(commit)('$.title')}`),
        );
      }
      case 'issue':
      case 'merge_request': {
        const subject =
          kind === 'issue' ? `issue #${read('$.object_attributes.iid')}` : `merge request !${read('$.object_attributes.iid')}`;
        return about(
          `${subject} ${action || read('$.object_attributes.state')}`,
          read('$.object_attributes.title'),
          read('$.object_attributes.url'),
          action === 'open' ? readExcerpt(payload, '$.object_attributes.description') : '',
        );
      }
      case 'note':
        return about('comment', read('$.object_attributes.url'), readExcerpt(payload, '$.object_attributes.note'));
      case 'pipeline':
        return about(
          `pipeline #${read('$.object_attributes.id')} ${read('$.object_attributes.status')}`,
          read('$.object_attributes.ref'),
          read('$.object_attributes.url'),
        );
      default:
        return about(event);
    }
  },
  sample: {
    headers: { 'x-gitlab-event': 'Pipeline Hook' },
    payload: {
      object_kind: 'pipeline',
      object_attributes: { id: 1, status: 'failed', ref: 'main', url: 'https://gitlab.com/group/project/-/pipelines/1' },
      project: { path_with_namespace: 'group/project' },
      user: { username: 'root' },
    },
  },
};
