/** The methods of a group, with some of them replaced or added. Groups are proxies, which cannot be spread. */
export function extend<Group extends object, More extends object>(
  group: Group,
  more: More,
): Omit<Group, keyof More> & More {
  return new Proxy(group, {
    get: (target, name) => Reflect.get(Object.hasOwn(more, name) ? more : target, name) as unknown,
  }) as unknown as Omit<Group, keyof More> & More;
}
