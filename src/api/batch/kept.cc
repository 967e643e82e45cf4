#include "api/batch/kept.h"

#include <array>
#include <span>

#include "base/try.h"

namespace teson::batch {
namespace {

enum class Type { kString, kInteger, kBoolean, kObject, kObjects, kStrings, kStringMap };

// "volumes.host" is that member of each of the volumes. Outer ones stand before inner ones.
struct Kept {
  std::string_view path;
  Type type;
};

// [botocore 1.43 batch/2016-08-10, ContainerProperties]
constexpr std::array kContainer = {
    Kept{"volumes", Type::kObjects},
    Kept{"volumes.name", Type::kString},
    Kept{"volumes.host", Type::kObject},
    Kept{"volumes.host.sourcePath", Type::kString},
    Kept{"volumes.efsVolumeConfiguration", Type::kObject},
    Kept{"volumes.efsVolumeConfiguration.fileSystemId", Type::kString},
    Kept{"volumes.efsVolumeConfiguration.rootDirectory", Type::kString},
    Kept{"volumes.efsVolumeConfiguration.transitEncryption", Type::kString},
    Kept{"volumes.efsVolumeConfiguration.transitEncryptionPort", Type::kInteger},
    Kept{"volumes.efsVolumeConfiguration.authorizationConfig", Type::kObject},
    Kept{"volumes.efsVolumeConfiguration.authorizationConfig.accessPointId", Type::kString},
    Kept{"volumes.efsVolumeConfiguration.authorizationConfig.iam", Type::kString},
    Kept{"volumes.s3filesVolumeConfiguration", Type::kObject},
    Kept{"volumes.s3filesVolumeConfiguration.fileSystemArn", Type::kString},
    Kept{"volumes.s3filesVolumeConfiguration.rootDirectory", Type::kString},
    Kept{"volumes.s3filesVolumeConfiguration.transitEncryptionPort", Type::kInteger},
    Kept{"volumes.s3filesVolumeConfiguration.accessPointArn", Type::kString},
    Kept{"mountPoints", Type::kObjects},
    Kept{"mountPoints.containerPath", Type::kString},
    Kept{"mountPoints.readOnly", Type::kBoolean},
    Kept{"mountPoints.sourceVolume", Type::kString},
    Kept{"ulimits", Type::kObjects},
    Kept{"ulimits.name", Type::kString},
    Kept{"ulimits.hardLimit", Type::kInteger},
    Kept{"ulimits.softLimit", Type::kInteger},
    Kept{"secrets", Type::kObjects},
    Kept{"secrets.name", Type::kString},
    Kept{"secrets.valueFrom", Type::kString},
    Kept{"linuxParameters", Type::kObject},
    Kept{"linuxParameters.devices", Type::kObjects},
    Kept{"linuxParameters.devices.hostPath", Type::kString},
    Kept{"linuxParameters.devices.containerPath", Type::kString},
    Kept{"linuxParameters.devices.permissions", Type::kStrings},
    Kept{"linuxParameters.initProcessEnabled", Type::kBoolean},
    Kept{"linuxParameters.sharedMemorySize", Type::kInteger},
    Kept{"linuxParameters.tmpfs", Type::kObjects},
    Kept{"linuxParameters.tmpfs.containerPath", Type::kString},
    Kept{"linuxParameters.tmpfs.size", Type::kInteger},
    Kept{"linuxParameters.tmpfs.mountOptions", Type::kStrings},
    Kept{"linuxParameters.maxSwap", Type::kInteger},
    Kept{"linuxParameters.swappiness", Type::kInteger},
    Kept{"logConfiguration", Type::kObject},
    Kept{"logConfiguration.logDriver", Type::kString},
    Kept{"logConfiguration.options", Type::kStringMap},
    Kept{"logConfiguration.secretOptions", Type::kObjects},
    Kept{"logConfiguration.secretOptions.name", Type::kString},
    Kept{"logConfiguration.secretOptions.valueFrom", Type::kString},
    Kept{"networkConfiguration", Type::kObject},
    Kept{"networkConfiguration.assignPublicIp", Type::kString},
    Kept{"fargatePlatformConfiguration", Type::kObject},
    Kept{"fargatePlatformConfiguration.platformVersion", Type::kString},
    Kept{"runtimePlatform", Type::kObject},
    Kept{"runtimePlatform.operatingSystemFamily", Type::kString},
    Kept{"runtimePlatform.cpuArchitecture", Type::kString},
    Kept{"ephemeralStorage", Type::kObject},
    Kept{"ephemeralStorage.sizeInGiB", Type::kInteger},
    Kept{"repositoryCredentials", Type::kObject},
    Kept{"repositoryCredentials.credentialsParameter", Type::kString},
    Kept{"jobRoleArn", Type::kString},
    Kept{"executionRoleArn", Type::kString},
    Kept{"user", Type::kString},
    Kept{"instanceType", Type::kString},
    Kept{"readonlyRootFilesystem", Type::kBoolean},
    Kept{"privileged", Type::kBoolean},
    Kept{"enableExecuteCommand", Type::kBoolean},
};

// [ComputeResource, ComputeResourceUpdate]
constexpr std::array kResources = {
    Kept{"subnets", Type::kStrings},
    Kept{"securityGroupIds", Type::kStrings},
    Kept{"tags", Type::kStringMap},
    Kept{"allocationStrategy", Type::kString},
    Kept{"imageId", Type::kString},
    Kept{"ec2KeyPair", Type::kString},
    Kept{"instanceRole", Type::kString},
    Kept{"placementGroup", Type::kString},
    Kept{"spotIamFleetRole", Type::kString},
    Kept{"updateToLatestImageVersion", Type::kBoolean},
    Kept{"launchTemplate", Type::kObject},
    Kept{"launchTemplate.launchTemplateId", Type::kString},
    Kept{"launchTemplate.launchTemplateName", Type::kString},
    Kept{"launchTemplate.version", Type::kString},
    Kept{"launchTemplate.userdataType", Type::kString},
    Kept{"launchTemplate.overrides", Type::kObjects},
    Kept{"launchTemplate.overrides.launchTemplateId", Type::kString},
    Kept{"launchTemplate.overrides.launchTemplateName", Type::kString},
    Kept{"launchTemplate.overrides.version", Type::kString},
    Kept{"launchTemplate.overrides.targetInstanceTypes", Type::kStrings},
    Kept{"launchTemplate.overrides.userdataType", Type::kString},
    Kept{"ec2Configuration", Type::kObjects},
    Kept{"ec2Configuration.imageType", Type::kString},
    Kept{"ec2Configuration.imageIdOverride", Type::kString},
    Kept{"ec2Configuration.batchImageStatus", Type::kString},
    Kept{"ec2Configuration.imageKubernetesVersion", Type::kString},
    Kept{"scalingPolicy", Type::kObject},
    Kept{"scalingPolicy.minScaleDownDelayMinutes", Type::kInteger},
};

// [CreateComputeEnvironment, UpdateComputeEnvironment, ComputeEnvironmentDetail]
constexpr std::array kEnvironment = {
    Kept{"serviceRole", Type::kString},
    Kept{"context", Type::kString},
    Kept{"uuid", Type::kString},
    Kept{"updatePolicy", Type::kObject},
    Kept{"updatePolicy.terminateJobsOnUpdate", Type::kBoolean},
    Kept{"updatePolicy.jobExecutionTimeoutMinutes", Type::kInteger},
};

Status check_type(const JsonValue& object, const char* name, Type type) {
  switch (type) {
    case Type::kString:
      TESON_TRY_STATUS(wire::optional_string(object, name));
      break;
    case Type::kInteger:
      TESON_TRY_STATUS(wire::optional_int(object, name, {INT32_MIN, INT32_MAX}));
      break;
    case Type::kBoolean:
      TESON_TRY_STATUS(wire::optional_bool(object, name));
      break;
    case Type::kObject:
      TESON_TRY_STATUS(wire::optional_object(object, name));
      break;
    case Type::kObjects:
      TESON_TRY_STATUS(wire::optional_object_array(object, name));
      break;
    case Type::kStrings:
      TESON_TRY_STATUS(wire::optional_string_array(object, name));
      break;
    case Type::kStringMap:
      TESON_TRY_STATUS(wire::optional_string_map(object, name));
      break;
  }
  return {};
}

Status check_path(const JsonValue& object, std::string_view path, Type type) {
  const size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  if (dot == std::string_view::npos) return check_type(object, name.c_str(), type);
  const auto outer = wire::field(object, name.c_str());
  if (!outer) return {};
  const std::string_view inner = path.substr(dot + 1);
  if (!outer->json().is_array()) return check_path(*outer, inner, type);
  TESON_TRY(const auto entries, wire::optional_object_array(object, name.c_str()));
  for (const JsonValue& entry : entries) TESON_TRY_STATUS(check_path(entry, inner, type));
  return {};
}

Status check_all(const JsonValue& object, std::span<const Kept> members) {
  for (const Kept& member : members) TESON_TRY_STATUS(check_path(object, member.path, member.type));
  return {};
}

}  // namespace

Status check_kept_container(const JsonValue& properties) { return check_all(properties, kContainer); }
Status check_kept_resources(const JsonValue& resources) { return check_all(resources, kResources); }
Status check_kept_environment(const JsonValue& body) { return check_all(body, kEnvironment); }

}  // namespace teson::batch
