/** The table of routes in docs/management-api.md, from the OpenAPI document that the gateway answers with. */

import { allRoutes } from '../../dist/manage/all-routes.js';
import { openApi } from '../../dist/manage/api.js';
import { table } from './table.mjs';

export function routeTable() {
  // Only what routes say of themselves is asked for: none of them is used.
  const document = openApi(allRoutes({}));
  const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `\`${path}\``,
      method.toUpperCase(),
      takes(operation, document),
      operation.summary,
    ]),
  );
  return table([['route', 'method', 'takes', 'does'], ...rows]);
}

/** `?q=&limit=` or `{ name, entry, scope? }`. */
function takes({ parameters = [], requestBody }, document) {
  const query = parameters.filter((one) => one.in === 'query').map(({ name }) => `${name}=`);
  const body = requestBody?.content['application/json'].schema;
  const shape = body?.$ref === undefined ? body : document.components.schemas[body.$ref.split('/').at(-1)];
  const fields = Object.keys(shape?.properties ?? {}).map((name) =>
    shape.required?.includes(name) ? name : `${name}?`,
  );
  return [
    ...(query.length > 0 ? [`\`?${query.join('&')}\``] : []),
    ...(fields.length > 0 ? [`\`{ ${fields.join(', ')} }\``] : []),
  ].join(' ');
}
